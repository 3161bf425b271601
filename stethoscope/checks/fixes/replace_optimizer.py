"""Trains with another optimizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.compile_code import optimizer_class, optimizer_line
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import number

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class ReplaceOptimizer(Fix):
    """Trains with `optimizer` (Keras' class name) at `learning_rate`."""

    kind: ClassVar[str] = "replace-optimizer"
    optimizer: str = "Adam"
    learning_rate: float | None = 0.001
    was: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {self.was}" if self.was else ""
        rate = f" at a learning rate of {number(self.learning_rate)}" if self.learning_rate is not None else ""
        return f"Train with {optimizer_class(self.optimizer)}{rate}{before}"

    def code(self) -> str:
        """The new compile line."""
        return optimizer_line(self.optimizer, self.learning_rate)

    def apply(self, setup: Setup) -> Setup:
        """A copy with the other optimizer, its settings at their defaults."""
        config = {} if self.learning_rate is None else {"learning_rate": self.learning_rate}
        return setup.with_changes(optimizer={"class_name": optimizer_class(self.optimizer), "config": config})


FIX = ReplaceOptimizer
