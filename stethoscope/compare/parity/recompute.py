"""What usual Keras layers compute, in plain numpy: so that a suspicion can be tried on the very inputs of the layer.

What UpSampling and Resizing of Keras compute, in plain numpy.

What the normalisations of Keras compute, in plain numpy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stethoscope.architecture.formulas import Array, function_of, sloped
from stethoscope.compare.parity import moving, numpy_layers
from stethoscope.compare.parity.kernel_suspicions import Rule, Settings, Weights, axes_of, ended, sizes
from stethoscope.compare.parity.recurrent import bidirectional, recurrent
from stethoscope.types import Layer


def _on(values: Array, axes: Sequence[int], rank: int, shape: Sequence[int]) -> Array:
    """Weights of some axes, so that they meet an array of that shape."""
    if values.ndim == 0:
        return values
    return np.reshape(values, [shape[axis] if axis in axes else 1 for axis in range(rank)])


def _scaled(made: Array, weights: Weights, axes: Sequence[int]) -> Array:
    gamma = _on(weights.get("gamma", np.ones(())), axes, made.ndim, made.shape)
    return np.asarray(made * gamma + _on(weights.get("beta", np.zeros(())), axes, made.ndim, made.shape))


def _divided(x: Array, variance: Array, settings: Settings, count: int, usual: float = 1e-3) -> Array:
    """By the root of the variance; "unbiased": over one value less; "epsilon_outside": added to the root."""
    if settings.get("unbiased"):
        variance = variance * count / max(1, count - 1)
    epsilon = float(settings.get("epsilon", usual))
    if settings.get("epsilon_outside"):
        return np.asarray(x / (np.sqrt(variance) + epsilon))
    return np.asarray(x / np.sqrt(variance + epsilon))


def batch_normal(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    """ "training": with the mean and variance of the batch."""
    x = inputs[0]
    axes = axes_of(settings, x.ndim)
    rest = tuple(axis for axis in range(x.ndim) if axis not in axes)
    if settings.get("training"):
        mean, variance = x.mean(axis=rest, keepdims=True), x.var(axis=rest, keepdims=True)
    else:
        mean, variance = (_on(weights[name], axes, x.ndim, x.shape) for name in ("moving_mean", "moving_variance"))
    return _scaled(_divided(x - mean, variance, settings, 0), weights, axes)


def layer_normal(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    """Over the axes that "axis" names."""
    x = inputs[0]
    axes = axes_of(settings, x.ndim)
    if settings.get("rms_scaling"):
        raise KeyError("rms_scaling")
    mean, variance = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    count = int(np.prod([x.shape[axis] for axis in axes]))
    return _scaled(_divided(x - mean, variance, settings, count), weights, axes)


def group_normal(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    """Over all places and the channels of a group."""
    x = inputs[0]
    (axis,) = axes_of(settings, x.ndim)
    moved = np.moveaxis(x, axis, -1)
    wide = moved.shape[-1]
    groups = int(settings.get("groups") or 32)
    groups = wide if groups == -1 else groups
    parts = moved.reshape(*moved.shape[:-1], groups, wide // groups)
    axes = (*range(1, parts.ndim - 2), parts.ndim - 1)
    mean, variance = parts.mean(axis=axes, keepdims=True), parts.var(axis=axes, keepdims=True)
    count = int(np.prod([parts.shape[one] for one in axes]))
    made = _divided(parts - mean, variance, settings, count).reshape(moved.shape)
    return _scaled(np.moveaxis(made, -1, axis), weights, (axis,))


def unit_normal(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    """To length 1 over the axes."""
    x, axes = inputs[0], axes_of(settings, inputs[0].ndim)
    return np.asarray(x / np.sqrt(np.maximum(np.square(x).sum(axis=axes, keepdims=True), 1e-12)))


def rms_normal(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    """By the root of the mean square; "centred": the mean is taken off before."""
    x, axes = inputs[0], axes_of(settings, inputs[0].ndim)
    if settings.get("centred"):
        x = x - x.mean(axis=axes, keepdims=True)
    made = _divided(x, np.square(x).mean(axis=axes, keepdims=True), settings, 0, 1e-6)
    return np.asarray(made * _on(weights.get("scale", np.ones(())), axes, x.ndim, x.shape))


def featurewise(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    """Normalization: with a mean and a variance that were adapted; "nothing": left out."""
    x = inputs[0]
    axes = () if settings.get("axis", -1) is None else axes_of(settings, x.ndim)
    mean, variance = (
        _on(
            np.squeeze(weights[name] if name in weights else np.asarray(settings[name], np.float64)),
            axes,
            x.ndim,
            x.shape,
        )
        for name in ("mean", "variance")
    )
    spread = np.maximum(np.sqrt(variance), 1e-7)
    if settings.get("nothing"):
        return x
    return np.asarray(mean + x * spread if settings.get("invert") else (x - mean) / spread)


_KEYS = -0.5
"""The coefficient of the cubic kernel in TensorFlow. Source: Keys, Cubic Convolution Interpolation, 1981; ONNX has -0.75."""
_STEPS = 1024
"""TensorFlow looks the kernel up in a table of so many steps. Source: tensorflow/core/kernels/image/resize_bicubic_op.cc."""


def enlarged(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    """UpSampling1D, 2D and 3D."""
    x = inputs[0]
    rank = x.ndim - 2
    factor = sizes(settings.get("size") or 2, rank)
    return _resized(x, [x.shape[1 + at] * factor[at] for at in range(rank)], settings, "nearest")


def resized(inputs: Sequence[Array], _weights: Weights, settings: Settings) -> Array:
    """Resizing.

    Raises:
        KeyError: settings that are not known here.
    """
    if settings.get("crop_to_aspect_ratio") or settings.get("pad_to_aspect_ratio") or settings.get("antialias"):
        raise KeyError("crop_to_aspect_ratio")
    return _resized(inputs[0], (int(settings["height"]), int(settings["width"])), settings, "bilinear")


def _resized(x: Array, outs: Sequence[int], settings: Settings, usual: str) -> Array:
    kind, half = str(settings.get("interpolation", usual)), 0.5 if settings.get("half_pixel", True) else 0.0
    if kind not in ("nearest", "bilinear", "bicubic"):
        raise KeyError(kind)
    for axis, out in enumerate(outs, 1):
        size = x.shape[axis]
        at = (
            np.linspace(0, size - 1, out)
            if settings.get("align_corners")
            else (np.arange(out) + half) * size / out - (0 if kind == "nearest" else half)
        )
        if kind == "bicubic":
            x = np.moveaxis(np.moveaxis(x, axis, -1) @ _cubic(at, size, settings).T, -1, axis)
            continue
        at = np.clip(at, 0, size - 1)
        low = np.floor(at + 1e-9).astype(int)
        if kind == "nearest":
            x = np.take(x, low, axis)
            continue
        share = (at - low).reshape([-1 if one == axis else 1 for one in range(x.ndim)])
        x = np.take(x, low, axis) * (1 - share) + np.take(x, np.minimum(low + 1, size - 1), axis) * share
    return x


def _cubic(at: Array, size: int, settings: Settings) -> Array:
    """(places out, places in): the share of each; beyond the ends nothing counts, or with "clamped" the last place does."""
    a = float(settings.get("cubic", _KEYS))
    at = np.rint(at * _STEPS) / _STEPS
    places = np.floor(at).astype(int)[:, None] + np.arange(-1, 3)
    far = np.abs(at[:, None] - places)
    near = (a + 2) * far**3 - (a + 3) * far**2 + 1
    rest = a * far**3 - 5 * a * far**2 + 8 * a * far - 4 * a
    shares = np.where(far <= 1, near, np.where(far < 2, rest, 0))
    if not settings.get("clamped"):
        shares = np.where((places >= 0) & (places < size), shares, 0)
        shares = shares / shares.sum(axis=1, keepdims=True)
    found = np.zeros((len(at), size))
    np.add.at(found, (np.arange(len(at))[:, None], np.clip(places, 0, size - 1)), shares)
    return found


def computed(layer: Layer, inputs: Sequence[Array], weights: Weights, changed: Settings | None = None) -> Array | None:
    """The layer's answer; None for layers that are not known here.

    Args:
        layer: with its config.
        inputs: what it reads, in order, channels last.
        weights: by their short names ("kernel", "bias", "gamma", …).
        changed: settings that stand for those of the config, and those that the rules know and no config has.
    """
    rule = _RULES.get(layer.type)
    settings = {**dict(layer.config), **(changed or {})}
    if rule is None:
        function = function_of(layer, changed) if len(inputs) == 1 else None
        return None if function is None else function(inputs[0])
    try:
        with np.errstate(all="ignore"):
            return rule(inputs, weights, settings)
    except (KeyError, ValueError, TypeError, IndexError):
        return None


def _dense(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    return ended(inputs[0] @ weights["kernel"], weights, settings)


_RANKS = ("1D", "2D", "3D")
_RULES: dict[str, Rule] = {
    "Dense": _dense,
    **{f"Conv{rank}": numpy_layers.convolution for rank in _RANKS},
    **{f"DepthwiseConv{rank}": numpy_layers.depthwise for rank in _RANKS[:2]},
    **{f"SeparableConv{rank}": numpy_layers.separable for rank in _RANKS[:2]},
    **{f"Conv{rank}Transpose": numpy_layers.transposed for rank in _RANKS},
    **{f"MaxPooling{rank}": numpy_layers.pooling("max") for rank in _RANKS},
    **{f"AveragePooling{rank}": numpy_layers.pooling("average") for rank in _RANKS},
    **{f"GlobalMaxPooling{rank}": numpy_layers.global_pooling("max") for rank in _RANKS},
    **{f"GlobalAveragePooling{rank}": numpy_layers.global_pooling("average") for rank in _RANKS},
    "BatchNormalization": batch_normal,
    "LayerNormalization": layer_normal,
    "GroupNormalization": group_normal,
    "UnitNormalization": unit_normal,
    "RMSNormalization": rms_normal,
    "Normalization": featurewise,
    "PReLU": sloped,
    **{f"UpSampling{rank}": enlarged for rank in _RANKS},
    "Resizing": resized,
    **{f"ZeroPadding{rank}": moving.padded for rank in _RANKS},
    **{f"Cropping{rank}": moving.cropped for rank in _RANKS},
    "Rescaling": moving.rescaled,
    "Flatten": moving.flattened,
    "Reshape": moving.reshaped,
    "Permute": moving.permuted,
    "RepeatVector": moving.repeated,
    "Embedding": moving.looked_up,
    "Concatenate": moving.joined,
    **{kind: moving.merging(kind) for kind in moving.MERGES},
    "Dot": moving.dotted,
    **{kind: recurrent(kind) for kind in ("LSTM", "GRU", "SimpleRNN")},
    "Bidirectional": bidirectional,
    **dict.fromkeys(numpy_layers.MANY_HEADED, numpy_layers.many_headed),
    **{kind: numpy_layers.simple(kind) for kind in numpy_layers.SIMPLE},
}
