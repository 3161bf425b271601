"""Shapes of every tensor of a Keras model, from its description alone: calls are followed through nested models.

A shape the file records (Keras 3 notes each tensor's) wins over one we infer; None is what neither knows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stethoscope.models.formats.keras_model.keras_builtins import is_operation_name
from stethoscope.models.formats.keras_model.keras_config import (
    Call,
    Entry,
    Network,
    Ref,
    as_shape,
    parse_network,
    refs_in,
)
from stethoscope.models.formats.keras_model.keras_layer_shapes import layer_output_shapes
from stethoscope.models.formats.keras_model.keras_operation_shapes import Known, operation_output_shapes
from stethoscope.models.formats.keras_model.keras_spatial_shapes import (
    Config,
    Shapes,
    inner_layer,
    merged_directions,
    recurrent_shapes,
)
from stethoscope.types import Shape

_OPERATION_LAYERS = {
    "TFOpLambda",
    "SlicingOpLambda",
    "TensorFlowOpLayer",
    "ClassMethod",
    "InstanceMethod",
    "InstanceProperty",
}
_MAX_OUTPUTS = 1000


@dataclass
class Flow:
    """What is known about one layer: shapes of its first call's inputs, and the outputs of each call."""

    inputs: Shapes = field(default_factory=list)
    calls: list[Shapes] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    reads: list[list[tuple[Ref, Shape | None]]] = field(default_factory=list)
    """Each tensor that each call is given, and its shape."""

    @property
    def output(self) -> Shape | None:
        """The first output's shape when all calls agree."""
        first = {call[0] for call in self.calls if call}
        return first.pop() if len(first) == 1 else None


Flows = dict[str, Flow]
"""By path: nested models join names with "/"."""


def follow(network: Network, given: Shapes | None = None) -> tuple[Shapes, Flows]:
    """Returns (shapes of the model's outputs, what is known of each layer).

    Args:
        network: the model.
        given: shapes of its inputs; None takes those the file declares.
    """
    flows: Flows = {}
    return _follow(network, given, "", flows), flows


def is_operation(entry: Entry) -> bool:
    """Whether it is a plain operation of the graph and not a layer."""
    if entry.class_name in _OPERATION_LAYERS:
        return True
    if entry.module is None:
        # Keras 3 leaves the module out of .h5 files: an operation is told by having no settings of a layer.
        noted = bool(entry.calls) and entry.calls[0].modern and entry.network is None
        bare = noted and not entry.config.keys() & {"trainable", "dtype"}
        return bare and is_operation_name(entry.class_name)
    return (entry.module or "").startswith("keras.src.ops") or (entry.module or "").startswith("keras.ops")


def input_refs(network: Network) -> list[Ref]:
    """The model's inputs, in order."""
    return list(refs_in(network.inputs))


def _follow(network: Network, given: Shapes | None, prefix: str, flows: Flows) -> Shapes:
    offsets = _offsets(network)
    values: dict[tuple[str, int, int], Shape | None] = {}
    recorded = {
        _key(ref, offsets): ref.shape
        for entry in network.entries
        for call in entry.calls
        for ref in call.refs()
        if ref.shape is not None
    }
    hints = _build_hints(network, offsets)
    width: dict[tuple[str, int], int] = {}
    for name, node, tensor in recorded:
        width[name, node] = min(_MAX_OUTPUTS, max(width.get((name, node), 0), tensor + 1))
    _seed(network, given, values)
    for entry, index in _order(network, offsets):
        path = prefix + entry.name
        flow = flows.setdefault(path, Flow())
        call = entry.calls[index] if index < len(entry.calls) else Call([])
        refs = call.refs()
        flow.reads.append([(ref, values.get(_key(ref, offsets))) for ref in refs])
        shapes = [values.get(_key(ref, offsets)) for ref in call.operands(entry.class_name)]
        if not entry.calls:
            shapes = _free_inputs(network, entry, given)
        if entry.network is not None:
            outputs = _follow(entry.network, shapes or None, path + "/", flows)
        elif is_operation(entry):
            outputs = _operation(entry, call, values, offsets)
        else:
            outputs = output_shapes(entry.class_name, entry.config, shapes)
        outputs = outputs + [None] * (width.get((entry.name, index), 0) - len(outputs))
        for at, inferred in enumerate(outputs):
            key = (entry.name, index, at)
            told = (recorded.get(key), values.get(key), inferred, hints.get(key))
            outputs[at] = next((shape for shape in told if shape is not None), None)  # () is a shape too
        values.update({(entry.name, index, at): shape for at, shape in enumerate(outputs)})
        if not flow.calls:
            flow.inputs = shapes
        flow.calls.append(outputs)
    return [values.get(_key(ref, offsets)) for ref in refs_in(network.outputs)]


def output_shapes(class_name: str, config: Config, inputs: Shapes) -> Shapes:
    """Shapes of one call of a layer, looking into wrappers, cells and wrapped models."""
    try:
        return _layer(class_name, config, inputs)
    except (TypeError, ValueError, IndexError, KeyError, AttributeError):
        return [None]


def _layer(class_name: str, config: Config, inputs: Shapes) -> Shapes:
    inner = inner_layer(config)
    if class_name == "Bidirectional" and inner:
        other = config.get("backward_layer")
        backward = (str(other["class_name"]), other["config"]) if isinstance(other, dict) else inner
        return merged_directions(config, _layer(inner[0], inner[1], inputs), _layer(backward[0], backward[1], inputs))
    if class_name == "TimeDistributed" and inner:
        shape = inputs[0]
        if shape is None:
            return [None]
        frames = wrapped_shapes(*inner, [(shape[0], *shape[2:])])
        return [None if frame is None else (frame[0], shape[1], *frame[1:]) for frame in frames]
    if class_name in ("Wrapper", "SpectralNormalization") and inner:
        return wrapped_shapes(*inner, inputs)
    recurrent = recurrent_shapes(class_name, config, inputs)
    return layer_output_shapes(class_name, config, inputs) if recurrent is None else recurrent


def wrapped_shapes(class_name: str, config: Config, inputs: Shapes) -> Shapes:
    """Shapes of a layer or whole model inside a wrapper."""
    network = parse_network("", {"class_name": class_name, "config": config})
    return output_shapes(class_name, config, inputs) if network is None else follow(network, inputs)[0]


def _operation(
    entry: Entry, call: Call, values: dict[tuple[str, int, int], Shape | None], offsets: dict[str, int]
) -> Shapes:
    def known(value: Any) -> Any:
        if isinstance(value, Ref):
            return Known(values.get(_key(value, offsets)))
        if isinstance(value, dict):
            return {key: known(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [known(item) for item in value]
        if isinstance(value, slice):
            return slice(known(value.start), known(value.stop), known(value.step))
        return value

    if entry.class_name in _OPERATION_LAYERS:
        name = str(entry.config.get("function") or entry.class_name)
    else:
        name = entry.class_name
    return operation_output_shapes(name, entry.config, known(call.args), known(call.kwargs))


def _seed(network: Network, given: Shapes | None, values: dict[tuple[str, int, int], Shape | None]) -> None:
    by_name = {entry.name: entry for entry in network.entries}
    for position, ref in enumerate(input_refs(network)):
        entry = by_name.get(ref.name)
        if entry is None or entry.calls or (network.sequential and entry.class_name != "InputLayer"):
            continue
        if given is not None and position < len(given) and given[position] is not None:
            values[(ref.name, 0, 0)] = given[position]


def _free_inputs(network: Network, entry: Entry, given: Shapes | None) -> Shapes:
    """Input shapes of an entry that nothing feeds: the first layer of a Sequential without its InputLayer."""
    if entry.class_name == "InputLayer":
        return []
    if given and network.sequential:
        return given
    for holder, key in (
        (entry.config, "batch_input_shape"),
        (entry.config, "batch_shape"),
        (network.config, "build_input_shape"),
        (network.build_config, "input_shape"),
        (entry.build_config, "input_shape"),
    ):
        shape = as_shape(holder.get(key))
        if shape is not None:
            return [shape]
    return [None]


def _build_hints(network: Network, offsets: dict[str, int]) -> dict[tuple[str, int, int], Shape]:
    """Shapes of tensors that a layer noted when it was built on them: of use where the layer before is not Keras' own."""
    hints: dict[tuple[str, int, int], Shape] = {}
    for entry in network.entries:
        refs = entry.calls[0].refs() if entry.calls else []
        noted = entry.build_config.get("input_shape")
        shapes = [noted] if len(refs) == 1 else noted if isinstance(noted, list) and len(noted) == len(refs) else []
        for ref, value in zip(refs, shapes, strict=False):
            shape = as_shape(value)
            if shape is not None:
                hints.setdefault(_key(ref, offsets), shape)
    return hints


def _key(ref: Ref, offsets: dict[str, int]) -> tuple[str, int, int]:
    return ref.name, max(0, ref.node - offsets.get(ref.name, 0)), ref.tensor


def _offsets(network: Network) -> dict[str, int]:
    """Keras counts calls of a nested model from 1 (its own creation is call 0), of a layer from 0: told from the largest used."""
    largest: dict[str, int] = {}
    used = [ref for entry in network.entries for call in entry.calls for ref in call.refs()]
    for ref in [*used, *refs_in(network.outputs)]:
        largest[ref.name] = max(largest.get(ref.name, 0), ref.node)
    counts = {entry.name: max(1, len(entry.calls)) for entry in network.entries}
    return {name: max(0, node + 1 - counts.get(name, 1)) for name, node in largest.items()}


def _order(network: Network, offsets: dict[str, int]) -> list[tuple[Entry, int]]:
    """Every call after the calls it reads from; calls in a cycle are left out."""
    calls = [(entry, index) for entry in network.entries for index in range(max(1, len(entry.calls)))]
    position = {(entry.name, index): at for at, (entry, index) in enumerate(calls)}
    readers: dict[int, list[int]] = {}
    missing = [0] * len(calls)
    for at, (entry, index) in enumerate(calls):
        sources = {_key(ref, offsets)[:2] for ref in entry.calls[index].refs()} if entry.calls else set()
        for source in sources & position.keys():
            readers.setdefault(position[source], []).append(at)
            missing[at] += 1
    ready = [at for at, count in enumerate(missing) if count == 0]
    order: list[tuple[Entry, int]] = []
    for at in ready:
        order.append(calls[at])
        for reader in readers.get(at, []):
            missing[reader] -= 1
            if missing[reader] == 0:
                ready.append(reader)
    return order
