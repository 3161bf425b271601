"""Fills gaps in the inputs with each column's median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup

_LINES = ("x = np.where(np.isfinite(x), x, np.nan)", "x = np.where(np.isnan(x), np.nanmedian(x, axis=0), x)")


@dataclass(frozen=True)
class FillMissing(Fix):
    """Replaces NaN and infinity in the inputs by the column's median."""

    @property
    def summary(self) -> str:
        """One line."""
        return "Fill NaN and infinity in the inputs with each column's median"

    def code(self) -> str:
        """The lines that fill."""
        return "\n".join([comment("before model.fit; use the same medians for every row predicted later"), *_LINES])

    def apply(self, setup: Setup) -> Setup:
        """A copy with filled inputs, by the training rows' medians."""
        from stethoscope.program.data_changes import filled

        return filled(setup)


FIX = FillMissing
