"""Trains with another learning rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.compile_code import optimizer_line
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, number

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class SetLearningRate(Fix):
    """Sets the optimizer's learning rate. `was` and `optimizer` serve the printed text."""

    kind: ClassVar[str] = "set-learning-rate"
    learning_rate: float = 0.001
    was: float | None = None
    optimizer: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {number(self.was)}" if self.was is not None else ""
        return f"Set the learning rate to {number(self.learning_rate)}{before}"

    def code(self) -> str:
        """The optimizer with the new rate."""
        if self.optimizer:
            return optimizer_line(self.optimizer, self.learning_rate)
        where = comment("after model.compile, before model.fit")
        return f"{where}\nmodel.optimizer.learning_rate = {number(self.learning_rate)}"

    def apply(self, setup: Setup) -> Setup:
        """A copy whose optimizer has the new rate; a schedule is replaced by it."""
        config = {**setup.optimizer.get("config", {}), "learning_rate": self.learning_rate}
        config.pop("lr", None)
        return setup.with_changes(optimizer={**setup.optimizer, "config": config})


FIX = SetLearningRate
