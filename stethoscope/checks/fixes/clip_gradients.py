"""Limits the size of one update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.compile_code import optimizer_line
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, number

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class ClipGradients(Fix):
    """Clips each variable's gradient to the norm `norm`."""

    kind: ClassVar[str] = "clip-gradients"
    norm: float = 1.0
    optimizer: str = ""
    learning_rate: float | None = None

    @property
    def summary(self) -> str:
        """One line."""
        return f"Clip gradients to a norm of {number(self.norm)}"

    def code(self) -> str:
        """The optimizer with clipping."""
        if self.optimizer:
            return optimizer_line(self.optimizer, self.learning_rate, clipnorm=self.norm)
        where = comment("after model.compile, before model.fit")
        return f"{where}\nmodel.optimizer.clipnorm = {number(self.norm)}"

    def apply(self, setup: Setup) -> Setup:
        """A copy whose optimizer clips."""
        config = {
            **setup.optimizer.get("config", {}),
            "clipnorm": self.norm,
            "global_clipnorm": None,
            "clipvalue": None,
        }
        return setup.with_changes(optimizer={**setup.optimizer, "config": config})


FIX = ClipGradients
