"""Lets frozen layers learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, listed, located

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class Unfreeze(Fix):
    """Makes `layers` trainable."""

    kind: ClassVar[str] = "unfreeze"
    layers: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        return f"Make {listed(self.layers)} trainable"

    def code(self) -> str:
        """One line for each layer."""
        where = comment("before model.compile: what is trainable is fixed there")
        return "\n".join([where, *(f"{located(path)}.trainable = True" for path in self.layers)])

    def apply(self, setup: Setup) -> Setup:
        """A copy in which these layers, and the models around them, are trainable."""
        from stethoscope.program.model_config import unfrozen

        return unfrozen(setup, self.layers)


FIX = Unfreeze
