"""Fixes of how `compile` and `fit` are called: optimizer, learning rate, loss, metrics; epochs, batch size, order, when it stops.

Fixes of how a model is compiled: optimizer, learning rate, size of updates, loss and metrics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import (
    comment,
    compile_line,
    fit_line,
    listed,
    literal,
    loss_source,
    number,
    optimizer_class,
    optimizer_line,
)
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


@dataclass(frozen=True)
class ReplaceOptimizer(Fix):
    """Trains with `optimizer` (Keras' class name) at `learning_rate`."""

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


@dataclass(frozen=True)
class SetLearningRate(Fix):
    """Sets the optimizer's learning rate. `was` and `optimizer` serve the printed text."""

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


@dataclass(frozen=True)
class ClipGradients(Fix):
    """Clips each variable's gradient to the norm `norm`."""

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


@dataclass(frozen=True)
class ReplaceLoss(Fix):
    """Trains `output` (the only one when empty) with `loss`, a snake_case name of Keras; labels follow when the loss needs other ones."""

    loss: str = "mean_squared_error"
    from_logits: bool = False
    output: str = ""
    was: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        logits = " with from_logits=True" if self.from_logits else ""
        if self.was == self.loss:
            return f"Compile with {self.loss}{logits or ' without from_logits'}"
        before = f" instead of {self.was}" if self.was else ""
        return f"Compile with the loss {self.loss}{logits}{before}"

    def code(self) -> str:
        """The new compile line."""
        return compile_line(loss=loss_source(self.loss, self.from_logits), output=self.output, loss_name=self.loss)

    def apply(self, setup: Setup) -> Setup:
        """A copy with the loss, and labels in the encoding that it reads."""
        from stethoscope.program.target_encoding import with_loss

        return with_loss(setup, self.output, self.loss, self.from_logits)


@dataclass(frozen=True)
class SetMetrics(Fix):
    """Compiles with `metrics` for `output` (the only one when empty)."""

    provable: ClassVar[bool] = False
    metrics: tuple[str, ...] = ()
    was: tuple[str, ...] | str = ()
    output: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        was = (self.was,) if isinstance(self.was, str) and self.was else tuple(self.was)
        return f"Report {listed(self.metrics)}{f' instead of {listed(was)}' if was else ''}"

    def code(self) -> str:
        """The new compile line."""
        names = f"[{', '.join(literal(name) for name in self.metrics)}]"
        metrics = f"{{{literal(self.output)}: {names}}}" if self.output else names
        where = comment("in place of your model.compile line")
        return f"{where}\nmodel.compile(optimizer=model.optimizer, loss=model.loss, metrics={metrics})"

    def apply(self, setup: Setup) -> Setup:
        """Never possible.

        Raises:
            CannotRun: always: metrics change what is shown, not what is learned.
        """
        raise CannotRun("Metrics change what is shown, not what is learned, so no run can show an effect.")


FIXES = (
    SetEpochs,
    SetBatchSize,
    SetShuffle,
    EarlyStopping,
    ReplaceOptimizer,
    SetLearningRate,
    ClipGradients,
    ReplaceLoss,
    SetMetrics,
)
