"""Only the border of pictures or sequences differs, or all of it is shifted: another padding.

Source: taehoonlee/tensornets#25 (strides), keras-team/keras#22876 (transposed convolutions), pytorch/pytorch#13934 (means).
"""

from __future__ import annotations

import numpy as np

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.causes.case import Case, Cause, Guess


class Border(Cause):
    """See the module's docstring."""

    id = "padding"
    title = "Another padding"

    def weigh(self, case: Case) -> Guess | None:
        """By where the difference lies, and by whether a shift of a pixel explains it."""
        axes = _spatial(case)
        if not axes or min(case.a.shape[axis] for axis in axes) < 3:
            return None
        gap = np.square(case.a - case.b)
        inner = gap
        for axis in axes:
            inner = inner.take(range(1, case.a.shape[axis] - 1), axis=axis)
        per_inner, per_all = float(inner.mean()), float(gap.mean())
        border = 1 - per_inner * inner.size / max(1e-300, float(gap.sum()))
        owner = case.of_type("conv", "pool", "pad", "resiz", "upsampl", "crop") or case.layer
        if border > 0.95 and per_all > 0:
            return self._guess(
                case, owner.path, f"{border:.0%} of the difference lies in the outermost line of pixels", 0.9
            )
        for axis in axes:
            for step in (1, -1):
                moved = np.roll(case.a, step, axis=axis)
                keep = [slice(None)] * case.a.ndim
                for other in axes:
                    keep[other] = slice(1, -1)
                inside = tuple(keep)
                left = float(np.square(moved - case.b)[inside].sum()) / max(1e-300, float(gap[inside].sum()))
                if left < 1e-3:
                    return self._guess(
                        case, owner.path, "the second model's answer is the first model's moved by one pixel", 0.9
                    )
        if owner is not case.layer or any(word in case.layer.type.lower() for word in ("conv", "pool", "pad")):
            thick = _thick_border(gap, axes)
            if thick > 0.95:
                return self._guess(case, owner.path, f"{thick:.0%} of the difference lies near the border", 0.75)
        pads = [one.path for one in case.added if one.path.rsplit("/", 1)[-1].lower().startswith(("pad", "zero_pad"))]
        if pads and case.of_type("conv", "pool") is not None:
            return self._guess(
                case, owner.path, f"the second model pads first ({pads[0]!r}), the first model does not", 0.6
            )
        return None

    def _guess(self, case: Case, layer: str, told: str, confidence: float) -> Guess:
        return self.guess(
            f"At {case.layer.path!r} {told}.",
            confidence,
            layer,
            'Give both the same padding: frameworks place the odd pixel of "same" at the end, PyTorch and ONNX pads as they are told.',
        )


def _spatial(case: Case) -> list[int]:
    """Axes that are neither rows nor channels, of arrays that have at least one."""
    channel = case.channel_axis % case.a.ndim
    return [axis for axis in range(1, case.a.ndim) if axis != channel] if case.a.ndim >= 3 else []


def _thick_border(gap: Array, axes: list[int]) -> float:
    inner = gap
    for axis in axes:
        size = gap.shape[axis]
        edge = max(1, size // 6)
        inner = inner.take(range(edge, size - edge), axis=axis)
    # As much as the border would have by its size alone is no border effect.
    share = 1 - inner.size / gap.size
    return 0.0 if share > 0.75 else 1 - float(inner.sum()) / max(1e-300, float(gap.sum()))


CAUSE = Border()
