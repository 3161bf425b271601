"""Leaves out rows that hold NaN or infinity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup

_LINES = (
    "finite = np.isfinite(x).reshape(len(x), -1).all(axis=1) & np.isfinite(y).reshape(len(y), -1).all(axis=1)",
    "x, y = x[finite], y[finite]",
)


@dataclass(frozen=True)
class DropRows(Fix):
    """Leaves out rows with a non-finite value ("nan" is the only reason so far)."""

    kind: ClassVar[str] = "drop-rows"
    reason: Literal["nan"] = "nan"

    @property
    def summary(self) -> str:
        """One line."""
        return "Leave out the rows that hold NaN or infinity"

    def code(self) -> str:
        """The lines that drop them."""
        return "\n".join([comment("before model.fit"), *_LINES])

    def apply(self, setup: Setup) -> Setup:
        """A copy without such rows, in training and validation."""
        from stethoscope.program.data_changes import finite_rows

        return finite_rows(setup)


FIX = DropRows
