"""Layers that do not fit behind each other.

Why: a recurrent layer without `return_sequences=True` gives its last step only, and the next recurrent layer wants a sequence:
ValueError. Pictures or sequences that reach the last Dense layer without Flatten or pooling give an answer for every place. Dense layers
without an activation between them are together one linear layer; softmax between layers, and weights that all start at 0, hold learning up.
Example: `LSTM(64)` followed by `LSTM(32)`; `Conv2D(...)` followed by `Dense(10, activation="softmax")`.
Fix: `return_sequences=True`; `Flatten()`; an activation.
Source: stackoverflow.com/questions/49821093; NeuraLint's rules on architecture (Nikanjam et al., TOSEM 2021); raised by Keras 3.15.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stethoscope.architecture.activations import ACTIVATION_LAYERS, LINEAR, SOFTMAX
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import fed
from stethoscope.pasted.scripts.models_built import Model, activation_of, layer_name
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.targets import one_for_each_row, one_number_for_each_row
from stethoscope.pasted.scripts.values import Call, Items, Made, is_const, number, plain, text

_RECURRENT = frozenset({"keras.layers.LSTM", "keras.layers.GRU", "keras.layers.SimpleRNN"})
_SPATIAL = frozenset(
    {
        f"keras.layers.{kind}{d}D"
        for kind in ("Conv", "MaxPooling", "AveragePooling", "SeparableConv")
        for d in (1, 2, 3)
    }
)
_PASSES = frozenset(
    {
        "keras.layers.Dropout",
        "keras.layers.BatchNormalization",
        "keras.layers.Activation",
        "keras.layers.ReLU",
        "keras.layers.LeakyReLU",
        "keras.layers.SpatialDropout2D",
        "keras.layers.LayerNormalization",
    }
)
_ACTIVATIONS = frozenset(f"keras.layers.{name}" for name in ACTIVATION_LAYERS)
_OF_CLASSES = frozenset({"sparse_categorical_crossentropy", "categorical_crossentropy"})
_OF_NUMBERS = frozenset({"mean_squared_error", "mean_absolute_error", "huber"})
_OF_ROWS = _OF_CLASSES | {"binary_crossentropy"}
_ZEROS = frozenset({"zeros", "zero", "ones", "one"})


def _run(facts: Facts) -> Iterator[Finding]:
    seen: set[int] = set()
    for model in facts.models:
        if model.kind != "sequential":
            continue
        layers = [layer.call for layer in model.layers if isinstance(layer, Made)]
        if len(layers) != len(model.layers) or not model.whole:
            continue
        if any(not layer_name(one).startswith("keras.layers.") for one in layers):
            found = list(_linear(facts, layers))
        else:
            found = [
                *_recurrent(facts, layers),
                *_flat(facts, model, layers),
                *_linear(facts, layers),
                *_starts(facts, layers),
            ]
        for finding, node in found:
            if id(node) not in seen:
                seen.add(id(node))
                yield finding


def _inner(call: Call) -> Call:
    if layer_name(call) == "keras.layers.Bidirectional" and call.args and isinstance(call.args[0], Made):
        return call.args[0].call
    return call


def _recurrent(facts: Facts, layers: Sequence[Call]) -> Iterator[tuple[Finding, object]]:
    for place, layer in enumerate(layers):
        own = _inner(layer)
        if layer_name(own) not in _RECURRENT or own.spread:
            continue
        following = next((_inner(one) for one in layers[place + 1 :] if layer_name(one) not in _PASSES), None)
        given = own.argument("return_sequences")
        if given is not None and not is_const(given, False):
            continue
        if following is not None and layer_name(following) in _RECURRENT | {
            "keras.layers.Conv1D",
            "keras.layers.TimeDistributed",
            "keras.layers.GlobalMaxPooling1D",
            "keras.layers.MaxPooling1D",
        }:
            kind = layer_name(own).rpartition(".")[2]
            yield (
                facts.finding(
                    own,
                    Fault.ARCHITECTURE,
                    Severity.CRITICAL,
                    0.97,
                    f"{kind} gives its last step only, and {layer_name(following).rpartition('.')[2]} behind it (line {facts.source.where(following.line).rpartition(':')[2]}) wants a sequence: ValueError.",
                    "Give it return_sequences=True.",
                    [facts.spans.add_argument(own.call_node, "return_sequences=True")] if given is None else [],
                ),
                own.node,
            )


def _flat(facts: Facts, model: Model, layers: Sequence[Call]) -> Iterator[tuple[Finding, object]]:
    if len(layers) < 2 or layer_name(layers[-1]) != "keras.layers.Dense":
        return
    before = next(
        (one for one in reversed(layers[:-1]) if layer_name(one) not in _PASSES | {"keras.layers.Dense"}), None
    )
    if before is None:
        return
    labels = {found.kind for call in model.calls("fit") if (found := fed(call).labels) is not None}
    first = layers[layers.index(before) + 1 :]
    dense = next(one for one in first if layer_name(one) == "keras.layers.Dense")
    name = layer_name(before)
    losses = {loss.name for call in model.compiled if (loss := model.loss(call)) is not None}
    classes = bool(losses & {"sparse_categorical_crossentropy", "categorical_crossentropy"}) and bool(
        labels & {"integer", "one_hot"}
    )
    by_row = bool(losses & _OF_ROWS) and any(one_for_each_row(call) for call in model.calls("fit"))
    by_row = by_row or (
        bool(losses & _OF_NUMBERS) and any(one_number_for_each_row(call) for call in model.calls("fit"))
    )
    own = _inner(before)
    if layer_name(own) in _RECURRENT and is_const(own.argument("return_sequences"), True) and by_row:
        node = next(one for one in own.call_node.keywords if one.arg == "return_sequences")
        yield (
            facts.finding(
                own,
                Fault.ARCHITECTURE,
                Severity.HIGH,
                0.9,
                f"{layer_name(own).rpartition('.')[2]} gives every step, so Dense says something of each step, and there is one label for each row.",
                "Leave return_sequences out at the last recurrent layer.",
                [facts.spans.remove_argument(own.call_node, node)],
            ),
            own.node,
        )
    activation = activation_of(layers[-1].argument("activation", 1))
    likely = bool(losses & _OF_CLASSES) and not labels and activation == SOFTMAX.name
    if name in _SPATIAL and likely:
        yield (
            facts.finding(
                dense,
                Fault.ARCHITECTURE,
                Severity.MEDIUM,
                0.75,
                f"{name.rpartition('.')[2]} gives a map, and Dense with softmax is applied to every place of it: with one label for each row Flatten or pooling is missing.",
                "Put Flatten() in front of it.",
                _flatten(facts, dense),
            ),
            dense.node,
        )
    if name in _SPATIAL and classes:
        yield (
            facts.finding(
                dense,
                Fault.ARCHITECTURE,
                Severity.CRITICAL,
                0.9,
                f"{name.rpartition('.')[2]} gives a map, and Dense is applied to every place of it: without Flatten or pooling between them the output has a class for each place, and the loss does not fit the labels.",
                "Put Flatten() in front of it.",
                _flatten(facts, dense),
            ),
            dense.node,
        )


def _flatten(facts: Facts, dense: Call) -> list[Edit]:
    from stethoscope.pasted.scripts.spelling import spelled

    own = facts.spans.text(dense.call_node.func)
    flatten = own[: -len("Dense")] + "Flatten" if own.endswith("Dense") else spelled(facts, "keras.layers.Flatten").text
    row = facts.source.text.split("\n")[dense.line - 1]
    whole = facts.spans.text(dense.call_node)
    if "." not in own:
        return []
    if row.strip() in (whole, f"{whole},"):
        return [facts.spans.above(dense.line, f"{flatten}(),")]
    if row.strip().endswith(f".add({whole})"):
        return [facts.spans.above(dense.line, row.strip().replace(whole, f"{flatten}()"))]
    return []


def _linear(facts: Facts, layers: Sequence[Call]) -> Iterator[tuple[Finding, object]]:
    for place, layer in enumerate(layers[:-1]):
        if layer_name(layer) != "keras.layers.Dense" or layer.spread:
            continue
        activation = activation_of(layer.argument("activation", 1))
        behind = next(
            (
                one
                for one in layers[place + 1 :]
                if layer_name(one) not in ("keras.layers.Dropout", "keras.layers.BatchNormalization")
            ),
            None,
        )
        if behind is None:
            continue
        if (
            activation == LINEAR.name
            and layer_name(behind) == "keras.layers.Dense"
            and not any(layer_name(one) in _ACTIVATIONS for one in layers[place + 1 : layers.index(behind)])
        ):
            yield (
                facts.finding(
                    layer,
                    Fault.ACTIVATION,
                    Severity.MEDIUM,
                    0.8,
                    "This Dense layer has no activation, and another one follows: together they are one linear layer.",
                    'Give it activation="relu".',
                    [facts.spans.add_argument(layer.call_node, 'activation="relu"')]
                    if layer.argument("activation", 1) is None
                    else [],
                ),
                layer.node,
            )
        elif activation == SOFTMAX.name and layer_name(behind) == "keras.layers.Dense":
            yield (
                facts.finding(
                    layer,
                    Fault.ACTIVATION,
                    Severity.MEDIUM,
                    0.85,
                    "Softmax between layers makes its units compete and squeezes them to a sum of 1: gradients through it are small.",
                    'Use activation="relu" here.',
                    [],
                ),
                layer.node,
            )


def _starts(facts: Facts, layers: Sequence[Call]) -> Iterator[tuple[Finding, object]]:
    for place, layer in enumerate(layers):
        name = layer_name(layer)
        start = text(layer.argument("kernel_initializer")) or text(layer.argument("init"))
        if start in _ZEROS and name in _SPATIAL | {"keras.layers.Dense"} and place < len(layers) - 1:
            yield (
                facts.finding(
                    layer,
                    Fault.INITIALISATION,
                    Severity.HIGH,
                    0.93,
                    f"All weights of this layer start at {0 if start.startswith('z') else 1}: its units stay equal to each other for ever.",
                    "Leave kernel_initializer out.",
                    [
                        facts.spans.remove_argument(layer.call_node, one)
                        for one in layer.call_node.keywords
                        if one.arg == "kernel_initializer"
                    ],
                ),
                layer.node,
            )
        rate = number(layer.argument("rate", 0)) if name == "keras.layers.Dropout" else None
        if rate == 1:
            yield (
                facts.finding(
                    layer,
                    Fault.REGULARISATION,
                    Severity.HIGH,
                    0.95,
                    "Dropout takes the share that is dropped, from 0 to below 1: 1 drops everything.",
                    "Give it a share like 0.5.",
                ),
                layer.node,
            )
        shape = layer.argument("input_shape")
        if (
            name == "keras.layers.Conv2D"
            and isinstance(shape, Items)
            and len(shape.items) == 2
            and plain(shape) is not None
        ):
            yield (
                facts.finding(
                    layer,
                    Fault.ARCHITECTURE,
                    Severity.CRITICAL,
                    0.97,
                    "Conv2D reads height, width and channels, and input_shape has two numbers: ValueError.",
                    "Add the channels, 1 for grey pictures, and give the data that axis.",
                ),
                layer.node,
            )


RULE = Rule(
    _run,
    same_as=frozenset(
        {
            "missing-flatten",
            "linear-hidden-layers",
            "softmax-hidden",
            "constant-initialisation",
            "dropout-rate",
            "input-shape",
        }
    ),
)
