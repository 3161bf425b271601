"""Keeps a model from learning its training rows by heart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, number

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class AddRegularisation(Fix):
    """Adds `kind` of regularisation: dropout of `rate` before the last layer with weights, or an L2 penalty of `rate` on every kernel."""

    method: Literal["dropout", "l2"] = "dropout"
    rate: float = 0.3
    before: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        if self.method == "l2":
            return f"Add an L2 penalty of {number(self.rate)} to the kernels"
        return f"Add a dropout of {number(self.rate)} before {self.before or 'the last layer'}"

    def code(self) -> str:
        """The new line."""
        if self.method == "l2":
            return "\n".join(
                [
                    comment("in every Dense and convolution layer"),
                    f"kernel_regularizer = keras.regularizers.L2({number(self.rate)})",
                ]
            )
        where = comment(f"in the model, the line before {self.before or 'the last layer'}")
        return f"{where}\nlayers.Dropout({number(self.rate)})"

    def apply(self, setup: Setup) -> Setup:
        """A copy with the regularisation."""
        from stethoscope.program.model_config import with_kernel_penalty
        from stethoscope.program.model_graph import last_with_weights, with_layer

        if self.method == "l2":
            return with_kernel_penalty(setup, self.rate)
        before = self.before or last_with_weights(setup)
        return with_layer(setup, "Dropout", {"rate": self.rate}, before=before)


FIX = AddRegularisation
