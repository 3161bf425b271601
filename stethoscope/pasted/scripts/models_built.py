"""The models that a script builds: their layers in order, their ends, how they are compiled and what is done with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from stethoscope.architecture.activations import LINEAR, SOFTMAX, known
from stethoscope.architecture.losses import canonical_loss
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.values import (
    Assignment,
    Call,
    Class,
    Const,
    Either,
    Element,
    Items,
    Made,
    Pairs,
    Ref,
    Value,
    is_const,
    number,
    plain,
    text,
)

METHODS = frozenset(
    {
        "add",
        "compile",
        "fit",
        "evaluate",
        "predict",
        "fit_generator",
        "evaluate_generator",
        "predict_generator",
        "train_on_batch",
        "test_on_batch",
        "predict_on_batch",
        "save",
        "save_weights",
        "load_weights",
        "build",
        "summary",
        "predict_classes",
        "predict_proba",
        "export",
        "add_loss",
        "add_metric",
        "pop",
    }
)
_SOFTMAX = f"keras.layers.{SOFTMAX.layer}"
_DENSE = frozenset({"keras.layers.Dense"})
_CONVOLUTIONS = frozenset(
    f"keras.layers.{name}" for name in ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose")
)
_PLACES = {"keras.layers.Dense": 1, "keras.layers.Conv2DTranspose": -1, "keras.layers.Conv3DTranspose": -1}
"""Where the activation stands among the arguments, if not sixth."""
_MOST_LAYERS = 2_000


@dataclass(frozen=True)
class Head:
    """How a model ends."""

    units: int | None
    activation: str | None
    """"linear" where there is none; None where it is not known."""
    layer: Call
    """The layer that has the units."""
    by: Call
    """The layer that has the activation: the same, or one behind it."""
    dense: bool = True


@dataclass(frozen=True)
class Loss:
    """What a loss is."""

    name: str
    """As Keras spells it in text: "categorical_crossentropy"."""
    from_logits: bool | None
    """None where the script does not say it for certain."""
    value: Value
    call: Call | None = None


@dataclass(eq=False)
class Model:
    """One model of a script."""

    call: Call
    kind: str
    """"sequential", "functional", "subclass", "application", "loaded"."""
    layers: list[Value] = field(default_factory=list)
    whole: bool = True
    """Whether all layers are known."""
    outputs: tuple[Value, ...] = ()
    used: list[Call] = field(default_factory=list)
    """Calls of its methods, in order."""
    set: list[Assignment] = field(default_factory=list)

    def calls(self, *methods: str) -> list[Call]:
        """Its calls of these methods, in order."""
        return [call for call in self.used if call.method in methods]

    @property
    def compiled(self) -> list[Call]:
        """Its calls of `compile`."""
        return self.calls("compile")

    @property
    def head(self) -> Head | None:
        """How it ends, if it has one output and the script says it."""
        if self.kind == "sequential":
            return head_of_layers(self.layers) if self.whole else None
        if self.kind == "subclass" and isinstance(self.call.function, Class):
            return _head_of_class(self.call.function)
        return head_of_tensor(self.outputs[0]) if len(self.outputs) == 1 else None

    def loss(self, compiled: Call) -> Loss | None:
        """What it is compiled with, if that is one loss."""
        return loss_of(compiled.argument("loss", 1))

    def layer_calls(self) -> Iterator[Call]:
        """The calls that make its layers, as far as they are known; the models within it too."""
        own = self.call.function
        held = own.attributes.values() if self.kind == "subclass" and isinstance(own, Class) else ()
        for layer in (*(self.layers if self.kind == "sequential" else tensor_layers(self.outputs)), *held):
            yield from _layers_within(layer, 0)


def _layers_within(layer: Value, depth: int) -> Iterator[Call]:
    """What makes a layer, the layers of a list, and those that a layer of the script's own holds."""
    if depth > 3:
        return
    if isinstance(layer, Items):
        for one in layer.items:
            yield from _layers_within(one, depth + 1)
    elif isinstance(layer, Made):
        yield layer.call
        kind = layer.call.function
        for one in kind.attributes.values() if isinstance(kind, Class) and not is_model_class(kind) else ():
            yield from _layers_within(one, depth + 1)


def layer_name(call: Call) -> str:
    """What a layer is: "keras.layers.Dense"."""
    return meaning(call.name)


def activation_of(value: Value | None) -> str | None:
    """An activation's name; "linear" for none, None where it is not known."""
    if value is None or is_const(value, None):
        return LINEAR.name
    said = text(value)
    if said is not None:
        return _spelling(said)
    if isinstance(value, Ref):
        return _spelling(value.name.rpartition(".")[2])
    if isinstance(value, Made) and "activations" in value.call.name:
        return _spelling(value.call.name.rpartition(".")[2])
    return None


def _spelling(name: str) -> str:
    """An activation as the vocabulary spells it; in lower case where it is not in it."""
    found = known(name)
    return name.lower() if found is None else found.name


def head_of_layers(layers: Sequence[Value]) -> Head | None:
    """How a stack of layers ends."""
    activation: str | None = None
    by: Call | None = None
    for layer in reversed(layers):
        if not isinstance(layer, Made):
            return None
        call = layer.call
        name = layer_name(call)
        inner = call.args[0] if call.args else None
        if name == "keras.layers.TimeDistributed" and isinstance(inner, Made):
            call, name = inner.call, layer_name(inner.call)
        if name in ("keras.layers.Activation", _SOFTMAX) and by is None:
            activation = SOFTMAX.name if name == _SOFTMAX else activation_of(call.argument("activation", 0))
            by = call
            if activation is None:
                return None
        elif name in _DENSE | _CONVOLUTIONS and not call.spread:
            units = number(call.argument("units" if name in _DENSE else "filters", 0))
            if units is None:
                units = number(call.argument("output_dim"))
            own = activation_of(call.argument("activation", _PLACES.get(name, 5)))
            if by is not None:
                own = activation if own == LINEAR.name else None
            whole = int(units) if units is not None and units == int(units) else None
            return Head(whole, own, call, by or call, name in _DENSE)
        else:
            return None
    return None


def _head_of_class(kind: Class) -> Head | None:
    """How a model of the script's own ends: the layer of its that `call` applies last."""
    called = kind.methods.get("call")
    if called is None:
        return None
    ends = [node.value for node in ast.walk(called.node) if isinstance(node, ast.Return)]
    last = ends[0] if len(ends) == 1 else None
    if isinstance(last, ast.Name):
        given = [
            node.value
            for node in ast.walk(called.node)
            if isinstance(node, ast.Assign) and any(ast.unparse(one) == last.id for one in node.targets)
        ]
        last = given[-1] if given else None
    function = last.func if isinstance(last, ast.Call) else None
    if not isinstance(function, ast.Attribute) or ast.unparse(function.value) != "self":
        return None
    layer = kind.attributes.get(function.attr)
    return head_of_layers([layer]) if isinstance(layer, Made) else None


def layer_of_tensor(value: Value) -> tuple[Value, Sequence[Value]] | None:
    """The layer that gives a tensor, and what it reads."""
    if isinstance(value, Made):
        call = value.call
        if isinstance(call.function, Made):
            return call.function, call.args
        if call.name and meaning(call.name).startswith(("keras.activations.", "tensorflow.nn.")) and call.args:
            return value, call.args[:1]
    return None


def tensor_layers(outputs: Sequence[Value]) -> list[Value]:
    """The layers on the way to tensors, first one first."""
    found: list[Value] = []
    queue: list[Value] = list(outputs)
    seen: set[int] = set()
    while queue and len(seen) < _MOST_LAYERS:
        tensor = queue.pop(0)
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        step = layer_of_tensor(tensor)
        if step is None:
            queue.extend(tensor.parents() if isinstance(tensor, Items | Either | Element) else ())
            continue
        found.append(step[0])
        queue.extend(step[1])
    return found[::-1]


def head_of_tensor(value: Value) -> Head | None:
    """How the way to a tensor ends."""
    layers: list[Value] = []
    for _ in range(3):
        step = layer_of_tensor(value)
        if step is None:
            return None
        layer, reads = step
        if layer is value and isinstance(value, Made):
            # An activation as a function: softmax(x).
            inner = head_of_tensor(reads[0])
            own = _spelling(value.call.name.rpartition(".")[2])
            return inner and Head(
                inner.units, own if inner.activation == LINEAR.name else None, inner.layer, value.call, inner.dense
            )
        layers.insert(0, layer)
        head = head_of_layers(layers)
        if head is not None:
            return head
        if len(reads) != 1:
            return None
        value = reads[0]
    return None


def loss_of(value: Value | None) -> Loss | None:
    """What a value given as a loss is; None for several, for one's own and for what is not known."""
    if value is None:
        return None
    said = text(value)
    if said is not None:
        return Loss(canonical_loss(said)[0], False, value)
    if isinstance(value, Items) and len(value.items) == 1:
        return loss_of(value.items[0])
    if isinstance(value, Ref) and meaning(value.name).startswith("keras.losses."):
        return Loss(_spelled(value.name), False, value)
    if isinstance(value, Made) and meaning(value.call.name).startswith("keras.losses."):
        call = value.call
        name = _spelled(call.name)
        given = call.argument("from_logits", 0)
        logits = plain(given)
        known = False if given is None else logits if isinstance(logits, bool) else None
        return Loss(name, None if call.spread else known, value, call)
    return None


def _spelled(name: str) -> str:
    return canonical_loss(name.rpartition(".")[2])[0]


def metrics_of(compiled: Call) -> list[Value]:
    """What a model is compiled to measure."""
    value = compiled.argument("metrics", 3 if "loss_weights" not in compiled.keywords else -1)
    if isinstance(value, Items):
        return list(value.items)
    if isinstance(value, Pairs):
        return [one for item in value.pairs.values() for one in (item.items if isinstance(item, Items) else [item])]
    return [value] if isinstance(value, Const) and isinstance(value.value, str) else []


def is_model_class(value: Value, depth: int = 0) -> bool:
    """Whether a class of the script is a Keras model."""
    if not isinstance(value, Class) or depth > 5:
        return False
    return any(
        (isinstance(base, Ref) and meaning(base.name) in ("keras.Model", "keras.Sequential"))
        or is_model_class(base, depth + 1)
        for base in value.bases
    )
