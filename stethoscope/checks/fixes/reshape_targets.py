"""Gives the targets the shape of the output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, literal

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class ReshapeTargets(Fix):
    """Reshapes the targets of `output` to `shape` per row."""

    kind: ClassVar[str] = "reshape-targets"
    output: str = ""
    shape: tuple[int, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        name = f"targets of {self.output}" if self.output else "targets"
        return (
            f"Reshape the {name} to {literal(self.shape)} per row"
            if self.shape
            else f"Give the {name} one number per row"
        )

    def code(self) -> str:
        """The line that reshapes."""
        what = f" (y: the targets of {self.output})" if self.output else ""
        sizes = "".join(f", {size}" for size in self.shape)
        return f"{comment(f'before model.fit{what}')}\ny = y.reshape(len(y){sizes or ','})".replace(
            "(len(y),)", "(len(y))"
        )

    def apply(self, setup: Setup) -> Setup:
        """A copy with reshaped targets."""
        from stethoscope.program.target_encoding import reshaped

        return reshaped(setup, self.output, self.shape)


FIX = ReshapeTargets
