"""The difference is that of rounded numbers: quantised activations or weights, half precision.

Source: arXiv:1712.05877 (quantised arithmetic).
"""

from __future__ import annotations

import numpy as np

from stethoscope.compare.parity.causes.case import Case, Cause, Guess


class Rounding(Cause):
    """See the module's docstring."""

    id = "quantisation"
    title = "Rounded numbers"

    def weigh(self, case: Case) -> Guess | None:
        """Where the error is of the size of the second model's own steps, or has no pattern and is small."""
        gap = case.b - case.a
        off = float(np.sqrt(np.mean(np.square(gap)))) / case.rms
        if case.step is not None:
            steps = float(np.sqrt(np.mean(np.square(gap)))) / case.step
            if steps < 4:
                return self.guess(
                    f"{case.layer.path!r} is off by {steps:.2g} of its own steps of {case.step:.3g}, as rounding makes it.",
                    0.55,
                    case.layer.path,
                    "Keep this layer in float, or quantise with 16-bit activations.",
                )
        biased = abs(float(gap.mean())) / (float(gap.std()) or 1e-30)
        if 1e-5 < off < 0.02 and biased < 0.1:
            return self.guess(
                f"{case.layer.path!r} is off by {off:.2%} without a pattern, as lower precision makes it.",
                0.3,
                case.layer.path,
                "Compare with the same precision in both, or accept the tolerance of the lower one.",
            )
        return None


CAUSE = Rounding()
