"""The last layers before an output: which activations apply to its values, and which layer made its units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from stethoscope.architecture.activations import LEAKY_RELU, LINEAR, OPERATORS, RELU, known
from stethoscope.architecture.losses import settings_of, snake
from stethoscope.types import Architecture, Layer, TensorSpec

_KEEP_VALUES = frozenset(
    [
        "dropout",
        "spatialdropout1d",
        "spatialdropout2d",
        "spatialdropout3d",
        "flatten",
        "reshape",
        "permute",
        "gaussiannoise",
        "gaussiandropout",
        "alphadropout",
        "activityregularization",
        "identity",
        "getitem",
        "squeeze",
        "expanddims",
        "transpose",
        "cast",
        "masking",
        "cropping1d",
        "cropping2d",
        "cropping3d",
        "repeatvector",
        "stopgradient",
        "stridedslice",
        "activation",
    ]
)
"""They move values about, or do nothing at inference: the head goes on before them."""
_KEEP_RANGE = frozenset(
    f"{kind}{n}d"
    for kind in ("globalaveragepooling", "globalmaxpooling", "averagepooling", "maxpooling", "upsampling")
    for n in (1, 2, 3)
)
"""They mix positions but keep every value inside the range of what came before."""
_NO_ACTIVATION = frozenset(
    [
        "batchnormalization",
        "layernormalization",
        "groupnormalization",
        "normalization",
        "add",
        "subtract",
        "dot",
        "multiheadattention",
        "matmul",
        "biasadd",
        "addv2",
        "gemm",
        "conv",
        "conv2d",
        "conv1d",
        "einsumdense",
        "embedding",
    ]
)
"""Known not to bound their output when their configuration names no activation."""


@dataclass(frozen=True)
class Ending:
    """How one output comes about."""

    layer: Layer | None
    """The layer that yields it."""
    units_layer: Layer | None
    """The last one with units of its own."""
    applied: tuple[tuple[str, int | None], ...] = ()
    """Every activation from `units_layer` to the output, in order, with the size of the axis it runs over; "linear" left out."""
    known: bool = False
    """Whether all layers from `units_layer` on are understood; else nothing can be said about the output's range."""
    moved: bool = False
    """Whether something stands between the last activation and the output, so that Keras' losses cannot see its input."""


def activation_of(layer: Layer) -> str:
    """The activation a layer applies, by Keras' lower-case name; "linear" when none."""
    if _kind(layer) in OPERATORS:
        return OPERATORS[_kind(layer)].name
    config: Mapping[str, Any] = layer.config
    inner = config.get("layer") or config.get("forward_layer")
    if layer.type in ("TimeDistributed", "Bidirectional") and isinstance(inner, Mapping):
        settings = inner.get("config")
        config = settings if isinstance(settings, Mapping) else {}
    value = config.get("activation") or config.get("fused_activation_function")
    if isinstance(value, Mapping):
        named = value.get("config")
        name = named.get("name") if isinstance(named, Mapping) and value.get("class_name") == "function" else None
        value = name or value.get("class_name")
    return activation_name(str(value)) if value else LINEAR.name


def activation_name(value: str) -> str:
    """An activation by Keras' lower-case name, whatever it was called; one that is not known keeps its own."""
    activation = known(value)
    return snake(value) if activation is None else activation.name


def ending_of(architecture: Architecture, index: int, spec: TensorSpec) -> Ending:
    """Follows output `index` back to the layer that made its units."""
    by_path = {layer.path: layer for layer in architecture.layers}
    end = by_path.get(_end_path(architecture, index, spec, by_path))
    if end is None:
        return Ending(None, None)
    chain = _chain(end, by_path)
    applied: list[tuple[str, int | None]] = []
    moved = False
    for layer in chain:
        name = activation_of(layer)
        if name != LINEAR.name:
            applied.append((name, _axis_size(layer)))
        elif not applied and layer is not chain[-1] and layer.type != "Activation":
            moved = True
    return Ending(end, chain[-1], tuple(reversed(applied)), all(_understood(layer) for layer in chain), moved)


def _chain(end: Layer, by_path: Mapping[str, Layer]) -> list[Layer]:
    """The output layer and those before it that only change its values' form or place, back to the last one with units.

    Before pooling, only the activation that the pooled values have counts: a mean of it is no stack of activations.
    """
    chain = [end]
    activated = pooled = False
    while len(chain) < 16:
        kind = _kind(chain[-1])
        activated = activated or activation_of(chain[-1]) != LINEAR.name
        pooled = pooled or kind in _KEEP_RANGE
        if kind not in _KEEP_RANGE and kind not in _KEEP_VALUES and kind not in OPERATORS:
            break
        before = _only_source(chain[-1], by_path)
        if (
            before is None
            or before.type in ("InputLayer", "Placeholder")
            or (activated and (pooled or _kind(before) in _KEEP_RANGE))
        ):
            break
        chain.append(before)
    return chain


def _only_source(layer: Layer, by_path: Mapping[str, Layer]) -> Layer | None:
    """The one layer it reads; constants of a graph (a Reshape's shape) are not layers."""
    sources = [by_path[path] for path in layer.inputs if path in by_path and by_path[path].type != "Const"]
    return sources[0] if len(sources) == 1 else None


def _understood(layer: Layer) -> bool:
    kind = _kind(layer)
    known = kind in OPERATORS or kind in _KEEP_VALUES or kind in _KEEP_RANGE or kind in _NO_ACTIVATION
    return known or "activation" in layer.config or layer.type in ("TimeDistributed", "Bidirectional")


def _kind(layer: Layer) -> str:
    """Its type in lower case without underscores: the same for Keras, ONNX, TensorFlow and TFLite."""
    return layer.type.replace("_", "").lower()


def _axis_size(layer: Layer) -> int | None:
    shape = layer.output_shape
    if not shape:
        return None
    axis = layer.config.get("axis", -1)
    axis = axis[0] if isinstance(axis, list | tuple) and len(axis) == 1 else axis
    if not isinstance(axis, int) or isinstance(axis, bool) or not -len(shape) <= axis < len(shape):
        return None
    return shape[axis]


def _end_path(architecture: Architecture, index: int, spec: TensorSpec, by_path: Mapping[str, Layer]) -> str:
    """The path of the layer behind an output, also for formats that do not say: the one layer that nothing reads."""
    if index < len(architecture.output_layers):
        return architecture.output_layers[index]
    if spec.name in by_path:
        return spec.name
    read = {source for layer in architecture.layers for source in layer.inputs}
    ends = [
        layer for layer in architecture.layers if layer.path not in read and layer.type not in ("Const", "InputLayer")
    ]
    fitting = [layer for layer in ends if layer.output_shape is None or layer.output_shape == spec.shape]
    if len(fitting) == 1:
        return fitting[0].path
    named = [layer for layer in fitting if spec.name in {part.rsplit("_", 1)[0] for part in layer.path.split("/")}]
    return named[0].path if len(named) == 1 else ""


_RECURRENT = ("LSTM", "GRU", "SimpleRNN", "ConvLSTM", "Bidirectional", "RNN", "TimeDistributed")
_FUSED = ("fusedActivationFunction", "fused_activation_function", "fused_activation")


def activation_behind(layer: Layer | None, *, first: bool = True) -> str:
    """The activation that made a layer's output, "linear" for none; "" where the output is not directly that of one.

    Args:
        layer: as described; None where it is unknown.
        first: whether it is the layer's first output (another one is a state).
    """
    if layer is None or not first:
        return ""
    config: Mapping[str, Any] = layer.config
    if layer.type.startswith(_RECURRENT):
        inner = config.get("layer")
        if layer.type == "TimeDistributed" and isinstance(inner, dict):
            return activation_of(replace(layer, type=str(inner.get("class_name")), config=settings_of(config)))
        return ""
    fused = activation_name(next((str(config[key]) for key in _FUSED if config.get(key)), LINEAR.name))
    if fused != LINEAR.name:
        return fused
    found = activation_of(layer)
    if layer.type in ("ReLU", "Relu"):
        if config.get("negative_slope"):
            return LEAKY_RELU.name
        return "relu6" if config.get("max_value") == 6 else RELU.name
    return found
