"""Values of the second model end at a bound that those of the first go beyond."""

from __future__ import annotations

import numpy as np

from stethoscope.parity.causes.case import Case, Guess


class ClippedRange:
    """See the module's docstring."""

    id = "clipped-range"
    title = "The range is clipped"

    def weigh(self, case: Case) -> Guess | None:
        """Sure where the second model's values are the first's, cut off at its lowest or highest."""
        low, high = case.value_range or (float(case.b.min()), float(case.b.max()))
        beyond = (case.a < low - 1e-6 * case.rms) | (case.a > high + 1e-6 * case.rms)
        share = float(beyond.mean())
        if share < 1e-4 or high <= low:
            return None
        cut = np.clip(case.a, low, high)
        left = case.unexplained(cut)
        quantised = case.value_range is not None
        if left > (0.5 if quantised else 0.05) or (not quantised and share < 1e-3):
            return None
        return Guess(
            self.id,
            self.title,
            f"The second model's {case.layer.path!r} ends at {low:.4g} and {high:.4g}; {share:.2%} of the first model's values lie beyond "
            f"({float(case.a.min()):.4g} to {float(case.a.max()):.4g}), and cutting them off explains {1 - left:.0%} of the difference.",
            0.92 if left < 0.2 else 0.75,
            case.layer.path,
            "Find the ranges again with rows like those of use (the representative data set), or widen this tensor's.",
        )


CAUSE = ClippedRange()
