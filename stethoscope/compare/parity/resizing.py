"""What UpSampling and Resizing of Keras compute, in plain numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stethoscope.compare.parity.layer_rule import Array, Settings, Weights, sizes

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
