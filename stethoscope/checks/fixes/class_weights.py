"""Weighs rows so that rare classes count as much as common ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.compile_code import fit_line
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import listed, number
from stethoscope.errors import CannotRun

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class ClassWeights(Fix):
    """Trains with `weights`, one for each class in order."""

    kind: ClassVar[str] = "class-weights"
    weights: tuple[float, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        return f"Weigh the classes by {listed([number(weight) for weight in self.weights], 6)}"

    def code(self) -> str:
        """The new fit line."""
        pairs = ", ".join(f"{index}: {number(weight)}" for index, weight in enumerate(self.weights))
        return fit_line(class_weight="{" + pairs + "}")

    def apply(self, setup: Setup) -> Setup:
        """A copy with class weights."""
        if len(setup.y) > 1:
            raise CannotRun("Class weights: expected a model with one output, got several. Use sample weights instead.")
        return setup.with_changes(class_weight=dict(enumerate(self.weights)))


FIX = ClassWeights
