"""What the normalisations of Keras compute, in plain numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stethoscope.compare.parity.layer_rule import Array, Settings, Weights, axes_of


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
