"""Gives a layer another activation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, layer_line, literal, located

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class ReplaceActivation(Fix):
    """Gives the layer at `layer` the activation `activation`. `was`, `layer_type`, `units`, `settings` only serve the printed code."""

    kind: ClassVar[str] = "replace-activation"
    layer: str = ""
    activation: str = "linear"
    was: str = ""
    layer_type: str = ""
    units: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The layer's config, where it is known: then its other settings are kept in the printed line."""

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {self.was}" if self.was else ""
        return f"Give {self.layer} the activation {self.activation}{before}"

    def code(self) -> str:
        """The layer's new line."""
        where = comment(f"in the model, in place of {self.layer}")
        if self.layer_type in ("Activation", "Softmax", "ReLU", "LeakyReLU", "ELU", "PReLU"):
            line: str | None = layer_line("Activation", self.layer, {"activation": self.activation})
        else:
            known = {"units": self.units} if self.units is not None and self.layer_type == "Dense" else {}
            line = layer_line(self.layer_type, self.layer, {**known, **self.settings, "activation": self.activation})
            if not self.settings and self.layer_type != "Dense":
                line = None
        if line is not None:
            return f"{where}\n{line}"
        where = comment("after the model is built, before model.compile")
        activation = literal(self.activation)
        return f"{where}\n{located(self.layer)}.activation = keras.activations.get({activation})"

    def apply(self, setup: Setup) -> Setup:
        """A copy in which the layer's configuration names the new activation."""
        from stethoscope.program.model_config import with_activation

        return with_activation(setup, self.layer, self.activation)


FIX = ReplaceActivation
