"""Trains for another number of epochs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.compile_code import fit_line
from stethoscope.checks.fixes.fix import Fix

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class SetEpochs(Fix):
    """Trains for `epochs` epochs."""

    kind: ClassVar[str] = "set-epochs"
    epochs: int = 10
    was: int | None = None

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {self.was}" if self.was is not None else ""
        return f"Train for {self.epochs} epochs{before}"

    def code(self) -> str:
        """The new fit line."""
        return fit_line(epochs=str(self.epochs))

    def apply(self, setup: Setup) -> Setup:
        """A copy that trains for so many epochs."""
        return setup.with_changes(epochs=float(self.epochs))


FIX = SetEpochs
