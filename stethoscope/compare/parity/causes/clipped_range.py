"""Values of the second model end at a bound that those of the first go beyond.

Source: ai.google.dev/edge/litert/models/post_training_quantization (representative data), onnx/tensorflow-onnx#1280 (the bound of ReLU6).
"""

from __future__ import annotations

import numpy as np

from stethoscope.compare.parity.array_difference import orient
from stethoscope.compare.parity.causes.case import Added, Case, Cause, Guess


class ClippedRange(Cause):
    """See the module's docstring."""

    id = "clipped-range"
    title = "The range is clipped"

    def weigh(self, case: Case) -> Guess | None:
        """Sure where the second model's values are the first's, cut off at its lowest or highest; likely where an operator on the way is full."""
        return self._cut(case) or self._cut_before(case) or self._full(case)

    def _cut(self, case: Case) -> Guess | None:
        low, high = case.value_range or (float(case.b.min()), float(case.b.max()))
        beyond = (case.a < low - 1e-6 * case.rms) | (case.a > high + 1e-6 * case.rms)
        share = float(beyond.mean())
        if not 1e-4 <= share <= _MOST or high <= low:
            return None
        cut = np.clip(case.a, low, high)
        left = case.unexplained(cut)
        quantised = case.value_range is not None
        if left > (0.5 if quantised else 0.05) or (not quantised and share < 1e-3):
            return None
        return self.guess(
            f"The second model's {case.layer.path!r} ends at {low:.4g} and {high:.4g}; {share:.2%} of the first model's values lie beyond "
            f"({float(case.a.min()):.4g} to {float(case.a.max()):.4g}), and cutting them off explains {1 - left:.0%} of the difference.",
            0.92 if left < 0.2 else 0.75,
            case.layer.path,
            "Find the ranges again with rows like those of use (the representative data set), or widen this tensor's.",
        )

    def _cut_before(self, case: Case) -> Guess | None:
        """An operator that only the second model has: what goes in is the same, and comes out with its ends cut off."""
        for one in case.added:
            low, high = float(one.answer.min()), float(one.answer.max())
            for x in case.inputs:
                turned = orient(x, one.answer) if x.size == one.answer.size else None
                beyond = float(np.mean(x > high))
                if turned is None or beyond < 1e-3 or low >= high:
                    continue
                if float(np.abs(np.clip(x, low, high) - turned[1]).max()) <= 1e-5 * max(abs(low), abs(high)):
                    return self.guess(
                        f"{one.path!r}, which only the second model has, ends at {low:.4g} and {high:.4g}: {beyond:.2%} of what goes in is cut off.",
                        0.93,
                        case.layer.path,
                        "Take the bound out of the second model, or put it into both.",
                    )
        return None

    def _full(self, case: Case) -> Guess | None:
        """Operators that the first model does not show: many of their values are the lowest or highest there is."""
        worst, most = None, _FULL
        for one in case.added:
            share = _share_at_ends(one)
            if share > most:
                worst, most = one, share
        if worst is None or worst.value_range is None:
            return None
        low, high = worst.value_range
        return self.guess(
            f"{most:.0%} of what {worst.path!r} answers on the way to {case.layer.path!r} is {low:.4g} or {high:.4g}, the lowest and highest that it can hold.",
            0.72,
            case.layer.path,
            "Find the ranges again with rows like those of use (the representative data set), or widen this tensor's.",
        )


_MOST = 0.9
"""Of the values, beyond the ends: where hardly any lies within, the second has another range, not the first's cut off."""
_FULL = 0.03
"""A range that was found with rows like these ends where hardly a value is."""


def _share_at_ends(one: Added) -> float:
    """Of its values, but those at a bound that functions have by themselves: 0, 1 and -1."""
    if one.value_range is None:
        return 0.0
    low, high = one.value_range
    step = (high - low) / 255
    natural = [abs(low) <= step, abs(low + 1) <= 2 * step, abs(high - 1) <= 2 * step, abs(high) <= step]
    at_low = 0.0 if natural[0] or natural[1] else float(np.mean(one.answer <= low + step / 2))
    at_high = 0.0 if natural[2] or natural[3] else float(np.mean(one.answer >= high - step / 2))
    return at_low + at_high


CAUSE = ClippedRange()
