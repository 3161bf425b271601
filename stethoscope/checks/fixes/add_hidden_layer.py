"""Adds a hidden layer, so that more than straight lines can be learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, literal

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class AddHiddenLayer(Fix):
    """Adds a Dense layer of `units` before `before`."""

    kind: ClassVar[str] = "add-hidden-layer"
    before: str = ""
    units: int = 32
    activation: str = "relu"

    @property
    def summary(self) -> str:
        """One line."""
        return f"Add a hidden layer of {self.units} {self.activation} units before {self.before}"

    def code(self) -> str:
        """The new line."""
        where = comment(f"in the model, the line before {self.before}")
        return f"{where}\nlayers.Dense({self.units}, activation={literal(self.activation)})"

    def apply(self, setup: Setup) -> Setup:
        """A copy with the new layer."""
        from stethoscope.program.model_graph import with_layer

        return with_layer(setup, "Dense", {"units": self.units, "activation": self.activation}, before=self.before)


FIX = AddHiddenLayer
