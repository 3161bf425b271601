"""Trains an output with another loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.compile_code import compile_line, loss_source
from stethoscope.checks.fixes.fix import Fix

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class ReplaceLoss(Fix):
    """Trains `output` (the only one when empty) with `loss`, a snake_case name of Keras; labels follow when the loss needs other ones."""

    kind: ClassVar[str] = "replace-loss"
    loss: str = "mean_squared_error"
    from_logits: bool = False
    output: str = ""
    was: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        logits = " with from_logits=True" if self.from_logits else ""
        if self.was == self.loss:
            return f"Compile with {self.loss}{logits or ' without from_logits'}"
        before = f" instead of {self.was}" if self.was else ""
        return f"Compile with the loss {self.loss}{logits}{before}"

    def code(self) -> str:
        """The new compile line."""
        return compile_line(loss=loss_source(self.loss, self.from_logits), output=self.output, loss_name=self.loss)

    def apply(self, setup: Setup) -> Setup:
        """A copy with the loss, and labels in the encoding that it reads."""
        from stethoscope.program.target_encoding import with_loss

        return with_loss(setup, self.output, self.loss, self.from_logits)


FIX = ReplaceLoss
