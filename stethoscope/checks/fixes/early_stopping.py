"""Stops training when validation no longer improves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.compile_code import fit_line
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment
from stethoscope.errors import CannotRun

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class EarlyStopping(Fix):
    """Stops after `patience` epochs without a better validation loss and keeps the best weights."""

    kind: ClassVar[str] = "early-stopping"
    patience: int = 5
    epochs: float | None = None

    @property
    def summary(self) -> str:
        """One line."""
        return f"Stop when the validation loss has not improved for {self.patience} epochs, and keep the best weights"

    def code(self) -> str:
        """The callback and the fit line."""
        return "\n".join(
            [
                comment("before model.fit; needs validation data"),
                f"stop = keras.callbacks.EarlyStopping(patience={self.patience}, restore_best_weights=True)",
                fit_line(callbacks="[stop]"),
            ]
        )

    def apply(self, setup: Setup) -> Setup:
        """A copy that ends at the epoch where validation was best."""
        if not setup.y_val:
            raise CannotRun("Early stopping: expected validation rows, got none. Give fit a validation_split.")
        if self.epochs is None:
            raise CannotRun("Early stopping: expected the best epoch of the run, got none. Compare the curves by eye.")
        return setup.with_changes(epochs=min(setup.epochs, self.epochs))


FIX = EarlyStopping
