"""Leaves out rows that are there twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup

_LINES = (
    "rows = np.concatenate([x.reshape(len(x), -1), y.reshape(len(y), -1)], axis=1)",
    "first = np.sort(np.unique(rows, axis=0, return_index=True)[1])",
    "x, y = x[first], y[first]",
)


@dataclass(frozen=True)
class RemoveDuplicates(Fix):
    """Keeps the first of equal rows; validation rows that are in the training rows go too."""

    @property
    def summary(self) -> str:
        """One line."""
        return "Leave out rows that repeat an earlier row"

    def code(self) -> str:
        """The lines that drop them."""
        return "\n".join([comment("before splitting and model.fit"), *_LINES])

    def apply(self, setup: Setup) -> Setup:
        """A copy without repeated rows."""
        from stethoscope.program.data_changes import without_duplicates

        return without_duplicates(setup)


FIX = RemoveDuplicates
