"""Fixes of the rows that are trained on: left out, repeated ones too, gaps filled, columns dropped, shuffled before the split.

Fills gaps in the inputs with each column's median.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, listed, number

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


_LINES = (
    "finite = np.isfinite(x).reshape(len(x), -1).all(axis=1) & np.isfinite(y).reshape(len(y), -1).all(axis=1)",
    "x, y = x[finite], y[finite]",
)


@dataclass(frozen=True)
class DropRows(Fix):
    """Leaves out rows with a non-finite value ("nan" is the only reason so far)."""

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
        from stethoscope.program.setup import finite_rows

        return finite_rows(setup)


@dataclass(frozen=True)
class DropFeatures(Fix):
    """Leaves out `columns` of the (only) input, by their numbers."""

    columns: tuple[int, ...] = ()
    input: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        noun = "column" if len(self.columns) == 1 else "columns"
        return f"Leave out input {noun} {listed([str(column) for column in self.columns])}"

    def code(self) -> str:
        """The line that drops them, and the input's new shape."""
        columns = ", ".join(str(column) for column in self.columns)
        lines = [comment("before the model is built; do the same with every row predicted later")]
        return "\n".join(
            [
                *lines,
                f"x = np.delete(x, [{columns}], axis=-1)",
                comment("the first line of the model"),
                "layers.Input(shape=x.shape[1:])",
            ]
        )

    def apply(self, setup: Setup) -> Setup:
        """A copy without these columns, with a narrower input."""
        from stethoscope.program.setup import without_columns

        return without_columns(setup, self.input, self.columns)


@dataclass(frozen=True)
class ShuffleBeforeSplit(Fix):
    """Shuffles rows, then holds back `validation_split` of them."""

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
        from stethoscope.program.setup import shuffled_split

        return shuffled_split(setup, self.validation_split)


_FILLING = ("x = np.where(np.isfinite(x), x, np.nan)", "x = np.where(np.isnan(x), np.nanmedian(x, axis=0), x)")


@dataclass(frozen=True)
class FillMissing(Fix):
    """Replaces NaN and infinity in the inputs by the column's median."""

    @property
    def summary(self) -> str:
        """One line."""
        return "Fill NaN and infinity in the inputs with each column's median"

    def code(self) -> str:
        """The lines that fill."""
        return "\n".join([comment("before model.fit; use the same medians for every row predicted later"), *_FILLING])

    def apply(self, setup: Setup) -> Setup:
        """A copy with filled inputs, by the training rows' medians."""
        from stethoscope.program.setup import filled

        return filled(setup)


_REMOVING = (
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
        return "\n".join([comment("before splitting and model.fit"), *_REMOVING])

    def apply(self, setup: Setup) -> Setup:
        """A copy without repeated rows."""
        from stethoscope.program.setup import without_duplicates

        return without_duplicates(setup)


FIXES = (DropRows, DropFeatures, ShuffleBeforeSplit, FillMissing, RemoveDuplicates)
