"""What usual Keras layers compute, in plain numpy: so that a suspicion can be tried on the very inputs of the layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.parity.activation_forms import function_of, named_function
from stethoscope.parity.recurrent import bidirectional, recurrent
from stethoscope.types import Layer

Array = npt.NDArray[np.float64]
Weights = Mapping[str, Array]
Settings = Mapping[str, Any]


def computed(layer: Layer, inputs: Sequence[Array], weights: Weights, changed: Settings | None = None) -> Array | None:
    """The layer's answer; None for layers that are not known here.

    Args:
        layer: with its config.
        inputs: what it reads, in order, channels last.
        weights: by their short names ("kernel", "bias", "gamma", …).
        changed: settings that stand for those of the config; "training" for BatchNormalization with the batch's statistics,
            "pads" for ((before, after), …) in place of the padding.
    """
    rule = _RULES.get(layer.type)
    settings = {**dict(layer.config), **(changed or {})}
    if rule is None:
        function = function_of(layer) if len(inputs) == 1 else None
        return None if function is None else function(inputs[0])
    try:
        return rule(inputs, weights, settings)
    except (KeyError, ValueError, TypeError, IndexError):
        return None


def _pair(value: Any, rank: int) -> tuple[int, ...]:
    if isinstance(value, int | float):
        return (int(value),) * rank
    found = tuple(int(one) for one in value)
    return found if len(found) == rank else (found[0],) * rank


def _pads(size: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    """As TensorFlow pads "same": the odd one at the end."""
    out = -(-size // stride)
    total = max(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - size)
    return total // 2, total - total // 2


def _windows(x: Array, kernel: Sequence[int], settings: Settings, fill: float = 0.0) -> Array:
    """(rows, *out, channels, *kernel) views of the padded input."""
    rank = len(kernel)
    strides = _pair(settings.get("strides") or 1, rank)
    dilation = _pair(settings.get("dilation_rate") or 1, rank)
    pads = settings.get("pads")
    if pads is None:
        same = str(settings.get("padding", "valid")).lower() == "same"
        pads = [_pads(x.shape[1 + at], kernel[at], strides[at], dilation[at]) if same else (0, 0) for at in range(rank)]
    x = np.pad(x, ((0, 0), *pads, (0, 0)), constant_values=fill)
    spans = [(size - 1) * dilation[at] + 1 for at, size in enumerate(kernel)]
    views = np.lib.stride_tricks.sliding_window_view(x, spans, axis=tuple(range(1, rank + 1)))
    picked = tuple(slice(None, None, strides[at]) for at in range(rank))
    taps = tuple(slice(None, None, dilation[at]) for at in range(rank))
    found: Array = views[(slice(None), *picked, slice(None), *taps)]
    return found


def _end(x: Array, weights: Weights, settings: Settings) -> Array:
    if settings.get("use_bias", True) and "bias" in weights:
        x = x + weights["bias"]
    kind = settings.get("activation")
    if kind in (None, "linear"):
        return x
    function = named_function(str(kind))
    if function is None:
        raise KeyError(kind)
    return function(x)


def _conv(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    kernel = weights["kernel"]
    rank = kernel.ndim - 2
    if int(settings.get("groups") or 1) != 1:
        raise KeyError("groups")
    views = _windows(inputs[0], kernel.shape[:rank], settings)
    moved = np.moveaxis(views, rank + 1, -1)  # (rows, *out, *kernel, channels)
    flat = moved.reshape(*moved.shape[: rank + 1], -1)
    return _end(flat @ kernel.reshape(-1, kernel.shape[-1]), weights, settings)


def _depthwise(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    kernel = next(weights[name] for name in ("depthwise_kernel", "kernel") if name in weights)
    views = _windows(inputs[0], kernel.shape[:2], settings)  # (rows, h, w, channels, kh, kw)
    found = np.einsum("rhwcij,ijcm->rhwcm", views, kernel, optimize=True)
    return _end(found.reshape(*found.shape[:3], -1), weights, settings)


def _dense(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    return _end(inputs[0] @ weights["kernel"], weights, settings)


def _batch_normal(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    x = inputs[0]
    axis = settings.get("axis", -1)
    axis = int(axis[0] if isinstance(axis, list | tuple) else axis) % x.ndim
    if axis != x.ndim - 1:
        raise KeyError("axis")
    rest = tuple(range(x.ndim - 1))
    mean, variance = weights["moving_mean"], weights["moving_variance"]
    if settings.get("training"):
        mean, variance = x.mean(axis=rest), x.var(axis=rest)
    scale = weights.get("gamma", np.ones(())) / np.sqrt(variance + float(settings.get("epsilon", 1e-3)))
    return (x - mean) * scale + weights.get("beta", np.zeros(()))


def _layer_normal(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    x, axis = inputs[0], settings.get("axis", -1)
    if (axis[0] if isinstance(axis, list | tuple) else axis) not in (-1, x.ndim - 1):
        raise KeyError("axis")
    mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    made = (x - mean) / np.sqrt(variance + float(settings.get("epsilon", 1e-3)))
    return np.asarray(made * weights.get("gamma", np.ones(())) + weights.get("beta", np.zeros(())))


def _pool(kind: str) -> Callable[[Sequence[Array], Weights, Settings], Array]:
    def apply(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
        x = inputs[0]
        size = _pair(settings.get("pool_size") or 2, x.ndim - 2)
        asked = {**settings, "strides": settings.get("strides") or size, "dilation_rate": 1}
        if (settings.get("as") or kind) == "max":
            found: Array = _windows(x, size, asked, -np.inf).max(axis=tuple(range(-len(size), 0)))
            return found
        total = _windows(x, size, asked).sum(axis=tuple(range(-len(size), 0)))
        if settings.get("count_include_pad"):
            return np.asarray(total / float(np.prod(size)))
        count = _windows(np.ones_like(x[:1]), size, asked).sum(axis=tuple(range(-len(size), 0)))
        return np.asarray(total / count)

    return apply


def _separable(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    plain = {**settings, "activation": None, "use_bias": False}
    middle = _depthwise(inputs, {"depthwise_kernel": weights["depthwise_kernel"]}, plain)
    return _end(middle @ weights["pointwise_kernel"].reshape(middle.shape[-1], -1), weights, settings)


def _transposed(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    """Kernel (height, width, outputs, inputs); "same" takes off what a convolution from the larger picture would have padded."""
    x, kernel = inputs[0], weights["kernel"]
    strides, size = _pair(settings.get("strides") or 1, 2), kernel.shape[:2]
    if _pair(settings.get("dilation_rate") or 1, 2) != (1, 1) or settings.get("output_padding") is not None:
        raise KeyError("dilation_rate")
    high, wide = ((x.shape[1 + at] - 1) * strides[at] + max(size[at], strides[at]) for at in range(2))
    found = np.zeros((len(x), high, wide, kernel.shape[2]))
    for row in range(size[0]):
        for column in range(size[1]):
            ends = row + (x.shape[1] - 1) * strides[0] + 1, column + (x.shape[2] - 1) * strides[1] + 1
            found[:, row : ends[0] : strides[0], column : ends[1] : strides[1]] += x @ kernel[row, column].T
    if str(settings.get("padding", "valid")).lower() == "same":
        outs = [x.shape[1 + at] * strides[at] for at in range(2)]
        starts = [max(0, found.shape[1 + at] - outs[at]) // 2 for at in range(2)]
        found = found[:, starts[0] : starts[0] + outs[0], starts[1] : starts[1] + outs[1]]
    return _end(found, weights, settings)


def _up(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    factor = _pair(settings.get("size") or 2, 2)
    sizes = inputs[0].shape[1] * factor[0], inputs[0].shape[2] * factor[1]
    return _resized(inputs[0], sizes, settings, "nearest")


def _resizing(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    if settings.get("crop_to_aspect_ratio") or settings.get("pad_to_aspect_ratio") or settings.get("antialias"):
        raise KeyError("crop_to_aspect_ratio")
    return _resized(inputs[0], (int(settings["height"]), int(settings["width"])), settings, "bilinear")


def _resized(x: Array, sizes: tuple[int, int], settings: Settings, usual: str) -> Array:
    kind, half = str(settings.get("interpolation", usual)), 0.5 if settings.get("half_pixel", True) else 0.0
    if kind not in ("nearest", "bilinear"):
        raise KeyError(kind)
    for axis, out in zip((1, 2), sizes, strict=True):
        size = x.shape[axis]
        at = (
            np.linspace(0, size - 1, out)
            if settings.get("align_corners")
            else (np.arange(out) + half) * size / out - (half if kind == "bilinear" else 0)
        )
        at = np.clip(at, 0, size - 1)
        low = np.floor(at + 1e-9).astype(int)
        if kind == "nearest":
            x = np.take(x, low, axis)
            continue
        share = (at - low).reshape([-1 if one == axis else 1 for one in range(x.ndim)])
        x = np.take(x, low, axis) * (1 - share) + np.take(x, np.minimum(low + 1, size - 1), axis) * share
    return x


def _global(kind: str) -> Callable[[Sequence[Array], Weights, Settings], Array]:
    def apply(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
        axes, keep = tuple(range(1, inputs[0].ndim - 1)), bool(settings.get("keepdims"))
        most = (settings.get("as") or kind) == "max"
        return np.asarray((np.max if most else np.mean)(inputs[0], axis=axes, keepdims=keep))

    return apply


def _pad(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    pads = settings["padding"]
    pads = [
        tuple(one) if isinstance(one, list | tuple) else (int(one), int(one))
        for one in (pads if isinstance(pads, list | tuple) else [pads] * (inputs[0].ndim - 2))
    ]
    return np.pad(inputs[0], ((0, 0), *pads, (0, 0)))


def _rescale(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    return inputs[0] * np.asarray(settings.get("scale", 1.0), np.float64) + np.asarray(
        settings.get("offset", 0.0), np.float64
    )


def _flatten(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    x = inputs[0]
    if settings.get("channels_first"):
        x = np.moveaxis(x, -1, 1)
    return x.reshape(len(x), -1)


_RULES: dict[str, Callable[[Sequence[Array], Weights, Settings], Array]] = {
    "Conv1D": _conv,
    "Conv2D": _conv,
    "Conv3D": _conv,
    "DepthwiseConv2D": _depthwise,
    "Dense": _dense,
    "BatchNormalization": _batch_normal,
    "LayerNormalization": _layer_normal,
    "MaxPooling1D": _pool("max"),
    "MaxPooling2D": _pool("max"),
    "AveragePooling1D": _pool("average"),
    "AveragePooling2D": _pool("average"),
    "SeparableConv2D": _separable,
    "Conv2DTranspose": _transposed,
    "UpSampling2D": _up,
    "Resizing": _resizing,
    "ZeroPadding2D": _pad,
    "Rescaling": _rescale,
    "Flatten": _flatten,
    "LSTM": recurrent("LSTM"),
    "GRU": recurrent("GRU"),
    "SimpleRNN": recurrent("SimpleRNN"),
    "Bidirectional": bidirectional,
    "Add": lambda inputs, _w, _s: sum(inputs[1:], inputs[0]),
    "Multiply": lambda inputs, _w, _s: np.prod(np.stack(inputs), axis=0),
    "Concatenate": lambda inputs, _w, s: np.concatenate(inputs, axis=int(s.get("axis", -1))),
    "GlobalAveragePooling1D": _global("average"),
    "GlobalAveragePooling2D": _global("average"),
    "GlobalMaxPooling1D": _global("max"),
    "GlobalMaxPooling2D": _global("max"),
}
