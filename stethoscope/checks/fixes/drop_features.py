"""Leaves out input columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, listed

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class DropFeatures(Fix):
    """Leaves out `columns` of the (only) input, by their numbers."""

    kind: ClassVar[str] = "drop-features"
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
        from stethoscope.program.data_changes import without_columns

        return without_columns(setup, self.input, self.columns)


FIX = DropFeatures
