"""The second model answers otherwise when it is asked again.

Source: Dobiasd/frugally-deep#284 (training=True is kept in the file).
"""

from __future__ import annotations

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.causes.case import Case, Cause, Guess


class RandomLayer(Cause):
    """See the module's docstring."""

    id = "random"
    title = "A layer draws random numbers"

    def weigh(self, case: Case) -> Guess | None:
        """Sure where two answers to the same rows differ, or values are dropped and the others scaled up."""
        dropout = case.of_type("dropout", "noise", "random")
        if case.moved > 1e-4:
            return Guess(
                "training-mode" if dropout else self.id,
                "A layer in training mode" if dropout else self.title,
                f"Asked twice, {case.layer.path!r} answers differently by {case.moved:.1%}: dropout or noise is active.",
                0.95,
                (dropout or case.layer).path,
                "Export in inference mode: call the model with training=False.",
            )
        pairs = [
            (case.a, case.b),
            *((x, one.answer) for x in case.inputs for one in case.added if one.answer.shape == x.shape),
        ]
        for left, right in pairs:
            told = _dropped(left, right)
            if told is not None:
                return Guess(
                    "training-mode",
                    "Dropout in training mode",
                    f"{told[0]:.0%} of the values of {(dropout or case.layer).path!r} are dropped and the others times {told[1]:.3g}, as dropout does in training.",
                    0.93,
                    (dropout or case.layer).path,
                    "Export in inference mode: call the model with training=False.",
                )
        return None


def _dropped(left: Array, right: Array) -> tuple[float, float] | None:
    """(share of values that are zero only on the right, what the others are multiplied with); None where that is not how they differ."""
    gone, kept = (right == 0) & (left != 0), (right != 0) & (left != 0)
    if gone.mean() <= 0.02 or not kept.any():
        return None
    ratio = right[kept] / left[kept]
    return (float(gone.mean()), float(ratio.mean())) if ratio.std() < 1e-3 and ratio.mean() > 1.01 else None


CAUSE = RandomLayer()
