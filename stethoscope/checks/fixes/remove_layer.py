"""Takes a layer out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, last_name, literal

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class RemoveLayer(Fix):
    """Takes `layer` out of the model; `why` serves the text."""

    kind: ClassVar[str] = "remove-layer"
    layer: str = ""
    why: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        return f"Remove {self.layer}" + (f": {self.why}" if self.why else "")

    def code(self) -> str:
        """A Sequential model without it."""
        name = literal(last_name(self.layer))
        lines = [
            comment(f"in the model, take out the line of {self.layer}; or, for a Sequential model"),
            f"model = keras.Sequential([layer for layer in model.layers if layer.name != {name}])",
        ]
        return "\n".join(lines)

    def apply(self, setup: Setup) -> Setup:
        """A copy without the layer, its neighbours joined."""
        from stethoscope.program.model_graph import without_layer

        return without_layer(setup, self.layer)


FIX = RemoveLayer
