"""Keeps the size of images and sequences through convolutions and pooling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import listed, literal, rebuilt

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class SetPadding(Fix):
    """Gives `layers` the padding "same" (or another one)."""

    kind: ClassVar[str] = "set-padding"
    layers: tuple[str, ...] = ()
    padding: str = "same"

    @property
    def summary(self) -> str:
        """One line."""
        return f'Give {listed(self.layers)} padding="{self.padding}"'

    def code(self) -> str:
        """The model made anew with this padding."""
        return rebuilt(self.layers, {"padding": literal(self.padding)})

    def apply(self, setup: Setup) -> Setup:
        """A copy with this padding."""
        from stethoscope.program.model_config import with_settings

        return with_settings(setup, self.layers, padding=self.padding)


FIX = SetPadding
