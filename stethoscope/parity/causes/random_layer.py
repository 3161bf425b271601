"""The second model answers otherwise when it is asked again."""

from __future__ import annotations

import numpy as np

from stethoscope.parity.causes.case import Case, Guess


class RandomLayer:
    """See the module's docstring."""

    id = "random"
    title = "A layer draws random numbers"

    def weigh(self, case: Case) -> Guess | None:
        """Sure where two answers to the same rows differ, or values are dropped and the others scaled up."""
        dropout = case.of_type("dropout", "noise", "random")
        if case.again is not None and case.again.shape == case.b.shape:
            moved = float(np.sqrt(np.mean(np.square(case.again - case.b)))) / case.rms
            if moved > 1e-4:
                return Guess(
                    "training-mode" if dropout else self.id,
                    "A layer in training mode" if dropout else self.title,
                    f"Asked twice, the second model's {case.layer.path!r} answers differently by {moved:.1%}: dropout or noise is active.",
                    0.95,
                    (dropout or case.layer).path,
                    "Export in inference mode: call the model with training=False.",
                )
        gone = (case.b == 0) & (case.a != 0)
        kept = (case.b != 0) & (case.a != 0)
        if gone.mean() > 0.02 and kept.any():
            ratio = case.b[kept] / case.a[kept]
            if float(np.std(ratio)) < 1e-3 and float(np.mean(ratio)) > 1.01:
                return Guess(
                    "training-mode", "Dropout in training mode",
                    f"{gone.mean():.0%} of the values of {case.layer.path!r} are dropped and the others times {float(np.mean(ratio)):.3g}, as dropout does in training.",
                    0.93, (dropout or case.layer).path, "Export in inference mode: call the model with training=False.",
                )  # fmt: skip
        return None


CAUSE = RandomLayer()
