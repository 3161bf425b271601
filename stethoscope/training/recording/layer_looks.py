"""Looks into single training steps: the watched step where a model can have one, the plain one where it cannot."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from stethoscope.framework_errors import gist
from stethoscope.out_of_memory import explain
from stethoscope.training.recording.live_model import is_end_of_data, package_of, replicas
from stethoscope.training.recording.schedule import Schedule
from stethoscope.training.recording.watched_step import WatchedStep

TrainFunction = Callable[[Any], Any]


class LayerLooks:
    """Trains one step of a model at a time and measures its layers in it.

    Args:
        model: compiled, inside `fit`.
        log_dir: named in warnings.
        wanted: whether layers are measured at all.
    """

    def __init__(self, model: Any, log_dir: Path, wanted: bool) -> None:
        self._model, self._log_dir = model, log_dir
        self._wanted = wanted
        self._watched: WatchedStep | None = None
        self.preparing = False
        """Whether the last call traced the watched step."""

    @property
    def values(self) -> Mapping[str, float]:
        """What the last call measured, by tag."""
        return self._watched.values if self._watched is not None else {}

    def call(self, plain: TrainFunction, iterator: Any, schedule: Schedule, traced_s: float) -> Any:
        """Trains on the iterator's next batch and returns the step's logs; errors of the training pass through.

        Args:
            plain: the model's own train function.
            iterator: as Keras gives it.
            schedule: says whether tracing the step a second time is worth it.
            traced_s: how long tracing took the first time.
        """
        if self._wanted and self._watched is None:
            self._watched = self._made(schedule, traced_s)
        watched = self._watched
        self.preparing = watched is not None and not watched.calls
        if watched is None:
            return plain(iterator)
        try:
            return watched(iterator)
        except Exception as error:
            if is_end_of_data(error) or (watched.calls and explain(error) is None):
                raise
            self.give_up(f"measuring them failed ({gist(error)})")
            return plain(iterator)

    def give_up(self, reason: str, kept: str = "Losses, metrics, memory and time") -> None:
        """Measures no layers from now on, and warns why; `kept` is what is recorded all the same."""
        if not self._wanted:
            return
        self._watched, self._wanted = None, False
        warnings.warn(
            f"Recorder: gradients, updates and activations are left out of {self._log_dir}: {reason}. "
            f"{kept} are recorded.",
            RuntimeWarning,
            stacklevel=2,
        )

    def _made(self, schedule: Schedule, traced_s: float) -> WatchedStep | None:
        """Made at the first look: before its first step a model may have no weights yet. None where it cannot be had."""
        if replicas(self._model) > 1:
            self.give_up("the model trains on several replicas at once")
        elif not schedule.may_prepare(traced_s):
            self.give_up("the training is too short to trace its step twice; with `every` it is done all the same")
        return WatchedStep(package_of(self._model), self._model) if self._wanted else None
