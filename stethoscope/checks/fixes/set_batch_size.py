"""Trains with another batch size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.compile_code import fit_line
from stethoscope.checks.fixes.fix import Fix

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class SetBatchSize(Fix):
    """Trains with batches of `batch_size` rows."""

    kind: ClassVar[str] = "set-batch-size"
    batch_size: int = 32
    was: int | None = None

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {self.was}" if self.was is not None else ""
        return f"Train with batches of {self.batch_size} rows{before}"

    def code(self) -> str:
        """The new fit line."""
        return fit_line(batch_size=str(self.batch_size))

    def apply(self, setup: Setup) -> Setup:
        """A copy that trains with such batches."""
        return setup.with_changes(batch_size=max(1, int(self.batch_size)))


FIX = SetBatchSize
