"""Drops another share of a layer's values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, last_name, listed, literal, number

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class SetDropoutRate(Fix):
    """Gives the dropout layers `layers` the rate `rate`."""

    kind: ClassVar[str] = "set-dropout-rate"
    layers: tuple[str, ...] = ()
    rate: float = 0.2
    was: float | None = None

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {number(self.was)}" if self.was is not None else ""
        return f"Give {listed(self.layers)} the rate {number(self.rate)}{before}"

    def code(self) -> str:
        """One line for each layer."""
        where = comment("in the model")
        return "\n".join(
            [where, *(f"layers.Dropout({number(self.rate)}, name={literal(last_name(path))})" for path in self.layers)]
        )

    def apply(self, setup: Setup) -> Setup:
        """A copy with this rate."""
        from stethoscope.program.model_config import with_settings

        return with_settings(setup, self.layers, rate=self.rate)


FIX = SetDropoutRate
