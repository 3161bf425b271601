"""The same values at other places: transposed, or steps of time in reverse order.

Source: tensorflow/tensorflow#40345 (the steps of a backward layer), discuss.tensorflow.org/t/12658 (channels first and last).
"""

from __future__ import annotations

import itertools

import numpy as np

from stethoscope.compare.parity.causes.case import Case, Cause, Guess


class Turned(Cause):
    """See the module's docstring."""

    id = "layout"
    title = "Axes are swapped or read backwards"

    def weigh(self, case: Case) -> Guess | None:
        """Sure where swapping axes of the first, or reading one backwards, gives the second."""
        if case.a.ndim < 3:
            return None
        for one, other in itertools.combinations(range(1, case.a.ndim), 2):
            if case.a.shape[one] == case.a.shape[other] and case.unexplained(np.swapaxes(case.a, one, other)) < 1e-4:
                return self._guess(case, f"axes {one} and {other} swapped")
        for axis in range(1, case.a.ndim):
            if case.a.shape[axis] > 1 and case.unexplained(np.flip(case.a, axis)) < 1e-4:
                return self._guess(case, f"axis {axis} read backwards")
        return None

    def _guess(self, case: Case, told: str) -> Guess:
        return self.guess(
            f"The second model's {case.layer.path!r} is the first model's with {told}.",
            0.92,
            case.layer.path,
            "Look for a reshape or transpose that one export has and the other has not.",
        )


CAUSE = Turned()
