"""Drops biases that the following normalisation takes away again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import listed, rebuilt

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class RemoveBias(Fix):
    """Gives `layers` use_bias=False."""

    kind: ClassVar[str] = "remove-bias"
    layers: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        return f"Give {listed(self.layers)} use_bias=False"

    def code(self) -> str:
        """The model made anew without these biases."""
        return rebuilt(self.layers, {"use_bias": "False"})

    def apply(self, setup: Setup) -> Setup:
        """A copy without these biases."""
        from stethoscope.program.model_config import with_settings

        return with_settings(setup, self.layers, use_bias=False)


FIX = RemoveBias
