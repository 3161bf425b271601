"""Shuffles the rows before some are held back for validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, number

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class ShuffleBeforeSplit(Fix):
    """Shuffles rows, then holds back `validation_split` of them."""

    kind: ClassVar[str] = "shuffle-before-split"
    validation_split: float = 0.2

    @property
    def summary(self) -> str:
        """One line."""
        return f"Shuffle the rows before holding back {number(100 * self.validation_split)} % for validation"

    def code(self) -> str:
        """The lines that shuffle, and the fit line."""
        where = comment("before model.fit: validation_split takes the last rows as they stand")
        lines = ["order = np.random.default_rng(0).permutation(len(x))", "x, y = x[order], y[order]"]
        return "\n".join([where, *lines, f"model.fit(x, y, validation_split={number(self.validation_split)})"])

    def apply(self, setup: Setup) -> Setup:
        """A copy with training and validation rows drawn at random from both."""
        from stethoscope.program.data_changes import shuffled_split

        return shuffled_split(setup, self.validation_split)


FIX = ShuffleBeforeSplit
