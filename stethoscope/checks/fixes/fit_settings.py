"""Fixes of how `fit` is called: epochs, batch size, order of the rows, and when it stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, fit_line
from stethoscope.errors import CannotRun

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class SetEpochs(Fix):
    """Trains for `epochs` epochs."""

    epochs: int = 10
    was: int | None = None

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {self.was}" if self.was is not None else ""
        return f"Train for {self.epochs} epochs{before}"

    def code(self) -> str:
        """The new fit line."""
        return fit_line(epochs=str(self.epochs))

    def apply(self, setup: Setup) -> Setup:
        """A copy that trains for so many epochs."""
        return setup.with_changes(epochs=float(self.epochs))


@dataclass(frozen=True)
class SetBatchSize(Fix):
    """Trains with batches of `batch_size` rows."""

    batch_size: int = 32
    was: int | None = None

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {self.was}" if self.was is not None else ""
        return f"Train with batches of {self.batch_size} rows{before}"

    def code(self) -> str:
        """The new fit line."""
        return fit_line(batch_size=str(self.batch_size))

    def apply(self, setup: Setup) -> Setup:
        """A copy that trains with such batches."""
        return setup.with_changes(batch_size=max(1, int(self.batch_size)))


@dataclass(frozen=True)
class SetShuffle(Fix):
    """Shuffles the rows anew in every epoch (`shuffle` True), or not."""

    shuffle: bool = True

    @property
    def summary(self) -> str:
        """One line."""
        return "Shuffle the training rows in every epoch" if self.shuffle else "Keep the training rows in order"

    def code(self) -> str:
        """The new fit line."""
        return fit_line(shuffle=str(self.shuffle))

    def apply(self, setup: Setup) -> Setup:
        """A copy that shuffles."""
        return setup.with_changes(shuffle=self.shuffle)


@dataclass(frozen=True)
class EarlyStopping(Fix):
    """Stops after `patience` epochs without a better validation loss and keeps the best weights."""

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


FIXES = (SetEpochs, SetBatchSize, SetShuffle, EarlyStopping)
