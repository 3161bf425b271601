"""Each channel is scaled and moved by its own numbers: BatchNormalization with another epsilon or other statistics.

Source: gzuidhof/nn-transfer#3 (epsilon), onnx/tensorflow-onnx#1610 (statistics), onnx/keras-onnx#98 (bias), keras.applications preprocess_input (input).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.causes.case import Case, Cause, Guess
from stethoscope.types import Layer

_GOOD = 1e-3


class ChannelScale(Cause):
    """See the module's docstring."""

    id = "epsilon"
    title = "Another epsilon of BatchNormalization"

    def weigh(self, case: Case) -> Guess | None:
        """By a straight line through each channel; what its slopes are like tells epsilon from statistics of the batch."""
        prepares = case.layer.type in ("Rescaling", "Normalization")
        if case.a.ndim < 2 or (case.a.shape[case.channel_axis] < 2 and not prepares):
            return None
        a, b = case.channels
        if len(a) < 4:
            return None
        normal = case.of_type("batchnorm", "batchnormalization") or _in_scope(case)
        slopes, offsets, left, used = _lines(a, b)
        if used.sum() < max(1, a.shape[1] // 2) or left > _GOOD:
            return None
        owner = normal or case.of_type("normalization", "norm", "scale", "mul", "conv", "dense") or case.layer
        spread = float(np.std(slopes[used])) if used.any() else 0.0
        alike = spread < 1e-4 and float(np.max(np.abs(offsets[used]))) < 1e-3 * case.rms
        if prepares:
            return Guess(
                "preprocessing",
                "Another scale of the input",
                f"The second model's {case.layer.path!r} is the first model's times {_range(slopes[used])}, plus {_range(offsets[used])}.",
                0.9,
                case.layer.path,
                "Give both the same scale and offset of the input.",
            )
        if alike and abs(float(np.mean(slopes[used]))) > _GOOD and abs(float(np.mean(slopes[used])) - 1) > 1e-6:
            return Guess(
                "scale",
                "All values are scaled",
                f"The second model's {case.layer.path!r} is the first model's times {float(np.mean(slopes[used])):.6g}.",
                0.8,
                case.layer.path,
                "Look for a factor that one of them applies and the other does not: scaling of the input, dropout, temperature.",
            )
        if float(np.max(np.abs(slopes[used] - 1))) < 1e-3:
            holder = case.of_type("dense", "conv", "normal", "fully", "matmul", "gemm", "bias") or case.layer
            return Guess(
                "bias",
                "Another bias",
                f"Each channel of {case.layer.path!r} is moved by its own number (up to {float(np.max(np.abs(offsets[used]))):.3g}), and not scaled.",
                0.85,
                holder.path,
                "Compare the bias: one of the two has lost or doubled it.",
            )
        told = f"Each channel of {case.layer.path!r} is the first model's times its own factor ({slopes[used].min():.3g} to {slopes[used].max():.3g})"
        if normal is None:
            return Guess(
                "epsilon",
                self.title,
                f"{told}, as another epsilon or other statistics of a normalisation make it.",
                0.6,
                owner.path,
                "Compare epsilon and the moving statistics of the normalisation before it.",
            )
        # Another epsilon moves every factor to the same side, and by less than half where it is small beside the variance.
        one_sided = bool(np.all(slopes[used] > 1) or np.all((slopes[used] < 1) & (slopes[used] > 0)))
        confidence = 0.92 if one_sided else 0.88 if float(np.max(np.abs(slopes[used] - 1))) < 0.9 else 0.7
        return self.guess(
            f"{told}: the same statistics with another epsilon (Keras 1e-3, PyTorch and ONNX 1e-5), or other statistics.",
            confidence,
            owner.path,
            "Give both the same epsilon.",
        )


def _in_scope(case: Case) -> Layer | None:
    """The last operator of the group that a normalisation was made of, by the scope that TensorFlow gives its operators."""
    return next((layer for layer in reversed(case.group) if "batchnorm/" in layer.path.lower()), None)


def _range(values: Array) -> str:
    """One number where all are alike, else the least and the largest."""
    low, high = float(values.min()), float(values.max())
    alike = high - low <= 1e-4 * max(abs(low), abs(high), 1e-12)
    return f"{(low + high) / 2:.6g}" if alike else f"{low:.4g} to {high:.4g} by channel"


def _lines(a: Array, b: Array) -> tuple[Array, Array, float, Any]:
    """(slopes, offsets, share of the variance that the lines leave, which channels count). Zeros of an activation are left out."""
    both = (a != 0) & (b != 0) if (a == 0).mean() > 0.02 else np.ones(a.shape, bool)
    weight = both.astype(np.float64)
    count = weight.sum(axis=0)
    safe = np.maximum(count, 1)
    mean_a, mean_b = (a * weight).sum(axis=0) / safe, (b * weight).sum(axis=0) / safe
    centred_a, centred_b = (a - mean_a) * weight, (b - mean_b) * weight
    var = np.square(centred_a).sum(axis=0)
    slopes = np.where(var > 0, (centred_a * centred_b).sum(axis=0) / np.where(var > 0, var, 1), 0.0)
    offsets = mean_b - slopes * mean_a
    used = (count >= 4) & (var > 1e-12 * safe)
    rest = np.square((b - slopes * a - offsets) * weight)[:, used].sum()
    gap = np.square((b - a) * weight)[:, used].sum()
    return slopes, offsets, float(rest / gap) if gap else 1.0, used


CAUSE = ChannelScale()
