"""Starts the last layer at the answer that is right on average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, listed, located, number

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class SetOutputBias(Fix):
    """Starts the bias of `layer` at `values`: the log odds of the classes, or the targets' mean."""

    kind: ClassVar[str] = "set-output-bias"
    layer: str = ""
    values: tuple[float, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        shown = listed([number(value) for value in self.values])
        return f"Start the bias of {self.layer} at {shown}"

    def code(self) -> str:
        """The line that sets the bias."""
        where = comment("after the model is built, before model.fit")
        values = ", ".join(number(value) for value in self.values)
        return f"{where}\n{located(self.layer)}.bias.assign([{values}])"

    def apply(self, setup: Setup) -> Setup:
        """A copy whose layer starts from this bias."""
        from stethoscope.program.model_config import with_bias_start

        return with_bias_start(setup, self.layer, self.values)


FIX = SetOutputBias
