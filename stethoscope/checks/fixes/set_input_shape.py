"""Declares the shape that the data has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, literal

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class SetInputShape(Fix):
    """Declares `shape` (without rows; None is any size) for `input`."""

    kind: ClassVar[str] = "set-input-shape"
    input: str = ""
    shape: tuple[int | None, ...] = ()
    was: tuple[int | None, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {literal(self.was)}" if self.was else ""
        name = f"input {self.input}" if self.input else "input"
        return f"Declare the {name} with the shape {literal(self.shape)}{before}"

    def code(self) -> str:
        """The input's line."""
        name = f", name={literal(self.input)}" if self.input else ""
        return f"{comment('the first line of the model')}\nlayers.Input(shape={literal(self.shape)}{name})"

    def apply(self, setup: Setup) -> Setup:
        """A copy that declares this shape."""
        from stethoscope.program.model_config import with_input_shape

        return with_input_shape(setup, self.input, self.shape)


FIX = SetInputShape
