"""Adds a layer that normalises values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class AddNormalisation(Fix):
    """Adds a normalisation layer after `after`; at the input when empty."""

    kind: ClassVar[str] = "add-normalisation"
    after: str = ""
    method: Literal["batch", "layer"] = "batch"

    @property
    def summary(self) -> str:
        """One line."""
        name = "BatchNormalization" if self.method == "batch" else "LayerNormalization"
        return f"Add layers.{name}() {f'after {self.after}' if self.after else 'as the first layer'}"

    def code(self) -> str:
        """The new line."""
        name = "BatchNormalization" if self.method == "batch" else "LayerNormalization"
        where = comment(
            f"in the model, {f'after {self.after}' if self.after else 'as the first layer after the input'}"
        )
        return f"{where}\nlayers.{name}()"

    def apply(self, setup: Setup) -> Setup:
        """A copy with the new layer."""
        from stethoscope.program.model_graph import with_layer

        name = "BatchNormalization" if self.method == "batch" else "LayerNormalization"
        return with_layer(setup, name, {}, after=self.after)


FIX = AddNormalisation
