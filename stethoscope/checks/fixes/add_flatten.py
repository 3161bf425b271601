"""Joins the positions of a row into one vector before a dense layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class AddFlatten(Fix):
    """Puts a Flatten layer before `before`."""

    kind: ClassVar[str] = "add-flatten"
    before: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        return f"Put layers.Flatten() before {self.before}"

    def code(self) -> str:
        """The new line."""
        return f"{comment(f'in the model, the line before {self.before}')}\nlayers.Flatten()"

    def apply(self, setup: Setup) -> Setup:
        """A copy with the new layer."""
        from stethoscope.program.model_graph import with_layer

        return with_layer(setup, "Flatten", {}, before=self.before)


FIX = AddFlatten
