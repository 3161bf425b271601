"""Lets fit shuffle the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.compile_code import fit_line
from stethoscope.checks.fixes.fix import Fix

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class SetShuffle(Fix):
    """Shuffles the rows anew in every epoch (`shuffle` True), or not."""

    kind: ClassVar[str] = "set-shuffle"
    shuffle: bool = True

    @property
    def summary(self) -> str:
        """One line."""
        return "Shuffle the training rows in every epoch" if self.shuffle else "Keep the training rows in order"

    def code(self) -> str:
        """The new fit line."""
        return fit_line(shuffle=str(self.shuffle))

    def apply(self, setup: Setup) -> Setup:
        """A copy that shuffles."""
        return setup.with_changes(shuffle=self.shuffle)


FIX = SetShuffle
