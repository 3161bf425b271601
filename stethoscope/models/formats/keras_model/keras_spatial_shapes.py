"""Output shapes of layers that move windows over an image, a series or a volume: convolution, pooling, padding, resizing.

Source: the `compute_output_shape` methods of Keras 3.15 and tf_keras 2.21.

Output shapes of recurrent layers and wrappers: layers whose shape depends on a layer or cell inside them.

Source: the `compute_output_shape` methods of Keras 3.15 and tf_keras 2.21.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stethoscope.types import Shape

Config = dict[str, Any]
Shapes = list[Shape | None]
Rule = Callable[[Config, Shapes], Shapes]


def tuple_of(value: Any, rank: int) -> tuple[int, ...]:
    """A kernel size, stride or dilation as a tuple of `rank` integers."""
    values = list(value) if isinstance(value, list | tuple) else [value] * rank
    return tuple(int(item) for item in values)


def channels_first(config: Config) -> bool:
    """Whether the config puts channels before the spatial dimensions."""
    return config.get("data_format") == "channels_first"


def first_shape(inputs: Shapes) -> Shape:
    """The first input's shape; ValueError when it is not known."""
    shape = inputs[0]
    if shape is None:
        raise ValueError("unknown input shape")
    return shape


def window(size: int | None, kernel: int, stride: int, dilation: int, padding: str) -> int | None:
    """Length of one spatial dimension after a convolution or pooling."""
    if size is None:
        return None
    reach = (kernel - 1) * dilation + 1
    if padding in ("same", "causal"):
        return -(-size // stride)
    return max(0, (size - reach) // stride + 1)


def _spatial(config: Config, shape: Shape, new: Sequence[int | None], channels: int | None) -> Shape:
    return (shape[0], channels, *new) if channels_first(config) else (shape[0], *new, channels)


def _conv(rank: int, depthwise: bool = False) -> Rule:
    def rule(config: Config, inputs: Shapes) -> Shapes:
        shape = first_shape(inputs)
        kernel = tuple_of(config["kernel_size"], rank)
        stride = tuple_of(config.get("strides") or 1, rank)
        dilation = tuple_of(config.get("dilation_rate") or 1, rank)
        padding = str(config.get("padding", "valid")).lower()
        lead, sizes, channels = _split(config, shape, rank)
        new = [window(*item, padding) for item in zip(sizes, kernel, stride, dilation, strict=True)]
        if depthwise:
            out = None if channels is None else channels * int(config.get("depth_multiplier", 1))
        else:
            out = int(config["filters"])
        return [lead + _spatial(config, (None,), new, out)[1:]]

    return rule


def _split(config: Config, shape: Shape, rank: int) -> tuple[Shape, Shape, int | None]:
    """(leading dimensions, spatial sizes, channels): tf_keras allows more than one leading dimension."""
    lead = len(shape) - rank - 1
    if lead < 1:
        raise ValueError("rank too small")
    rest = shape[lead:]
    return (shape[:lead], rest[1:], rest[0]) if channels_first(config) else (shape[:lead], rest[:-1], rest[-1])


def _deconv(rank: int) -> Rule:
    def rule(config: Config, inputs: Shapes) -> Shapes:
        shape = first_shape(inputs)
        kernel = tuple_of(config["kernel_size"], rank)
        stride = tuple_of(config.get("strides") or 1, rank)
        dilation = tuple_of(config.get("dilation_rate") or 1, rank)
        extra = config.get("output_padding")
        extras: tuple[int | None, ...] = (None,) * rank if extra is None else tuple_of(extra, rank)
        same = str(config.get("padding", "valid")).lower() == "same"
        lead, sizes, _ = _split(config, shape, rank)
        new = [_deconv_length(*item, same) for item in zip(sizes, kernel, stride, dilation, extras, strict=True)]
        return [lead + _spatial(config, (None,), new, int(config["filters"]))[1:]]

    return rule


def _deconv_length(
    size: int | None, kernel: int, stride: int, dilation: int, extra: int | None, same: bool
) -> int | None:
    if size is None:
        return None
    kernel = (kernel - 1) * dilation + 1
    if extra is None:
        return size * stride if same else size * stride + max(kernel - stride, 0)
    padding = kernel // 2 if same else 0
    return (size - 1) * stride + kernel - 2 * padding + extra


def _pool(rank: int) -> Rule:
    def rule(config: Config, inputs: Shapes) -> Shapes:
        shape = first_shape(inputs)
        size = config.get("pool_size", config.get("pool_length", 2))
        pool = tuple_of(size, rank)
        strides = config.get("strides", config.get("stride"))
        stride = pool if strides is None else tuple_of(strides, rank)
        padding = str(config.get("padding", "valid")).lower()
        _, sizes, channels = _split(config, shape, rank)
        new = [window(item, p, s, 1, padding) for item, p, s in zip(sizes, pool, stride, strict=True)]
        return [_spatial(config, shape, new, channels)]

    return rule


def _adaptive_pool(rank: int) -> Rule:
    def rule(config: Config, inputs: Shapes) -> Shapes:
        shape = first_shape(inputs)
        return [_spatial(config, shape, tuple_of(config["output_size"], rank), _split(config, shape, rank)[2])]

    return rule


def _global_pool(rank: int) -> Rule:
    def rule(config: Config, inputs: Shapes) -> Shapes:
        shape = first_shape(inputs)
        channels = _split(config, shape, rank)[2]
        if config.get("keepdims"):
            return [_spatial(config, shape, [1] * rank, channels)]
        return [(shape[0], channels)]

    return rule


def _resize_each(rank: int, change: Callable[[Config, int], list[tuple[int, int]]], sign: int) -> Rule:
    def rule(config: Config, inputs: Shapes) -> Shapes:
        shape = first_shape(inputs)
        _, sizes, channels = _split(config, shape, rank)
        new = [None if s is None else s + sign * (a + b) for s, (a, b) in zip(sizes, change(config, rank), strict=True)]
        return [_spatial(config, shape, new, channels)]

    return rule


def _pairs(key: str) -> Callable[[Config, int], list[tuple[int, int]]]:
    def pairs(config: Config, rank: int) -> list[tuple[int, int]]:
        value = config[key]
        if isinstance(value, int):
            return [(value, value)] * rank
        if rank == 1 and len(value) == 2 and all(isinstance(item, int) for item in value):
            return [(value[0], value[1])]
        return [(item, item) if isinstance(item, int) else (int(item[0]), int(item[1])) for item in value]

    return pairs


def _upsample(rank: int) -> Rule:
    def rule(config: Config, inputs: Shapes) -> Shapes:
        shape = first_shape(inputs)
        factor = tuple_of(config.get("size", config.get("length", 2)), rank)
        _, sizes, channels = _split(config, shape, rank)
        return [
            _spatial(
                config, shape, [None if s is None else s * f for s, f in zip(sizes, factor, strict=True)], channels
            )
        ]

    return rule


def _image_size(config: Config, inputs: Shapes) -> Shapes:
    shape, height, width = first_shape(inputs), int(config["height"]), int(config["width"])
    if channels_first(config):
        return [(*shape[:-2], height, width)]
    return [(*shape[:-3], height, width, shape[-1])]


_TRANSPOSED = {"Conv1DTranspose": 1, "Conv2DTranspose": 2, "Conv3DTranspose": 3, "Deconvolution2D": 2}

SPATIAL_RULES: dict[str, Rule] = {
    "CenterCrop": _image_size,
    "RandomCrop": _image_size,
    "Resizing": _image_size,
    **{
        f"{name}{rank}D": _conv(rank)
        for name in ("Conv", "SeparableConv", "LocallyConnected", "Convolution", "SeparableConvolution")
        for rank in (1, 2, 3)
    },
    **{name: _deconv(rank) for name, rank in _TRANSPOSED.items()},
    **{f"Convolution{rank}DTranspose": _deconv(rank) for rank in (1, 2, 3)},
    **{f"DepthwiseConv{rank}D": _conv(rank, depthwise=True) for rank in (1, 2)},
    "DepthwiseConvolution2D": _conv(2, depthwise=True),
    **{f"{kind}Pooling{rank}D": _pool(rank) for kind in ("Max", "Average") for rank in (1, 2, 3)},
    **{f"{kind}Pool{rank}D": _pool(rank) for kind in ("Max", "Avg") for rank in (1, 2, 3)},
    **{f"Adaptive{kind}Pooling{rank}D": _adaptive_pool(rank) for kind in ("Max", "Average") for rank in (1, 2, 3)},
    **{f"Global{kind}Pooling{rank}D": _global_pool(rank) for kind in ("Max", "Average") for rank in (1, 2, 3)},
    **{f"Global{kind}Pool{rank}D": _global_pool(rank) for kind in ("Max", "Avg") for rank in (1, 2, 3)},
    **{f"ZeroPadding{rank}D": _resize_each(rank, _pairs("padding"), 1) for rank in (1, 2, 3)},
    **{f"Cropping{rank}D": _resize_each(rank, _pairs("cropping"), -1) for rank in (1, 2, 3)},
    **{f"UpSampling{rank}D": _upsample(rank) for rank in (1, 2, 3)},
}


RECURRENT = {"LSTM": 2, "GRU": 1, "SimpleRNN": 1, "CuDNNLSTM": 2, "CuDNNGRU": 1, "LSTMV1": 2, "GRUV1": 1}
"""Class name → number of states."""
_CELL_STATES = {"LSTMCell": 2, "GRUCell": 1, "SimpleRNNCell": 1}
_CONVOLUTIONAL = {"ConvLSTM1D": 1, "ConvLSTM2D": 2, "ConvLSTM3D": 3}


def inner_layer(config: Config) -> tuple[str, Config] | None:
    """(class name, config) of the layer a wrapper wraps, or None."""
    inner = config.get("layer")
    if isinstance(inner, dict) and isinstance(inner.get("class_name"), str) and isinstance(inner.get("config"), dict):
        return inner["class_name"], inner["config"]
    return None


def cells(config: Config) -> list[tuple[str, Config]]:
    """(class name, config) of each cell of an `RNN` layer, in order."""
    cell = config.get("cell")
    if isinstance(cell, list):
        parts = cell
    elif isinstance(cell, dict) and cell.get("class_name") == "StackedRNNCells":
        inner = cell.get("config")
        parts = inner.get("cells", []) if isinstance(inner, dict) else []
    else:
        parts = [cell]
    return [
        (str(part["class_name"]), part["config"])
        for part in parts
        if isinstance(part, dict) and "class_name" in part and isinstance(part.get("config"), dict)
    ]


def recurrent_shapes(class_name: str, config: Config, inputs: Shapes) -> Shapes | None:
    """Shapes of a recurrent layer's outputs (the sequence or last state, then states if returned); None for other classes."""
    if class_name in RECURRENT:
        return _plain(inputs[0], int(config["units"]), [int(config["units"])] * RECURRENT[class_name], config)
    if class_name == "RNN":
        parts = cells(config)
        if not parts or any(name not in _CELL_STATES for name, _ in parts):
            return [None]
        states = [int(cell["units"]) for name, cell in parts for _ in range(_CELL_STATES[name])]
        return _plain(inputs[0], int(parts[-1][1]["units"]), states, config)
    if class_name in _CONVOLUTIONAL:
        return _convolutional(inputs[0], config, _CONVOLUTIONAL[class_name])
    return None


def _plain(shape: Shape | None, units: int, states: list[int], config: Config) -> Shapes:
    if shape is None:
        return [None]
    batch, time = (shape[1], shape[0]) if config.get("time_major") else (shape[0], shape[1])
    sequence = (time, batch, units) if config.get("time_major") else (batch, time, units)
    out: Shapes = [sequence if config.get("return_sequences") else (batch, units)]
    if config.get("return_state"):
        out += [(batch, size) for size in states]
    return out


def _convolutional(shape: Shape | None, config: Config, rank: int) -> Shapes:
    if shape is None:
        return [None]
    sizes = shape[3:] if channels_first(config) else shape[2:-1]
    kernel, stride = tuple_of(config["kernel_size"], rank), tuple_of(config.get("strides") or 1, rank)
    dilation = tuple_of(config.get("dilation_rate") or 1, rank)
    padding = str(config.get("padding", "valid"))
    new = [window(*item, padding) for item in zip(sizes, kernel, stride, dilation, strict=True)]
    filters = int(config["filters"])
    frame: Shape = (filters, *new) if channels_first(config) else (*new, filters)
    out: Shapes = [(*shape[:2], *frame) if config.get("return_sequences") else (shape[0], *frame)]
    if config.get("return_state"):
        out += [(shape[0], *frame)] * 2
    return out


def merged_directions(config: Config, forward: Shapes, backward: Shapes) -> Shapes:
    """Shapes of a `Bidirectional` layer from those of its two directions."""
    mode, first, second = config.get("merge_mode", "concat"), forward[0], backward[0]
    states: list[Any] = [*forward[1:], *backward[1:]]
    if first is None or second is None:
        return [None]
    if mode == "concat":
        joined = None if first[-1] is None or second[-1] is None else first[-1] + second[-1]
        return [(*first[:-1], joined), *states]
    return [first, second, *states] if mode is None else [first, *states]
