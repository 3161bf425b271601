"""Looks into single training steps of a live Keras model: the watched step where it can have one, the plain one else.

When to look into a training step, so that all looking together stays below a share of the training's time.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.framework_errors import explain, gist
from stethoscope.logs.curves import WEIGHTS, of_layer
from stethoscope.training.instruments import owners
from stethoscope.training.model import package
from stethoscope.training.recording.event_writer import histogram
from stethoscope.training.recording.watched_step import WatchedStep


def package_of(model: Any) -> Any:
    """The package the model is of: keras or tf_keras."""
    return package(not any(kind.__module__.split(".")[0] == "tf_keras" for kind in type(model).__mro__))


def trains_on_tensorflow(model: Any) -> bool:
    """Whether Keras runs on TensorFlow; with other backends a train function is called in other ways."""
    backend = getattr(getattr(package_of(model), "config", None), "backend", None)
    return backend is None or backend() == "tensorflow"


def replicas(model: Any) -> int:
    """On how many devices a step is made at once."""
    return int(getattr(getattr(model, "distribute_strategy", None), "num_replicas_in_sync", 1))


def writes_summaries(model: Any) -> bool:
    """Whether this process is the one that writes logs, where several machines train one model."""
    extended = getattr(getattr(model, "distribute_strategy", None), "extended", None)
    return bool(getattr(extended, "should_save_summary", True))


def numbers(logs: Mapping[str, Any] | None) -> dict[str, float]:
    """The single numbers among a step's or epoch's logs; a step of one's own may hand back anything."""
    found = {}
    for name, value in dict(logs or {}).items():
        if isinstance(value, Mapping | list | tuple):
            continue
        array = _array(value)
        if array.ndim == 0 and (array.dtype.kind in "biuf" or array.dtype.name == "bfloat16"):
            found[str(name)] = float(array)
    return found


def steps_done(model: Any) -> int:
    """Training steps the model's optimizer has made so far."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        return 0
    # With gradients accumulated over steps, Keras counts updates.
    steps_each = getattr(optimizer, "gradient_accumulation_steps", None) or 1
    return int(_array(optimizer.iterations)) * int(steps_each)


def steps_per_call(model: Any) -> int:
    """Steps that one call of the train function makes."""
    found = getattr(model, "steps_per_execution", None)
    if found is None:
        found = getattr(model, "_steps_per_execution", None)
    return 1 if found is None else max(1, int(_array(found)))


def learning_rate(model: Any) -> float | None:
    """The optimizer's rate at its present step; None without one."""
    optimizer = getattr(model, "optimizer", None)
    rate = getattr(optimizer, "learning_rate", None)
    if optimizer is None or rate is None:
        return None
    return float(_array(rate(optimizer.iterations) if callable(rate) else rate))


def logs_are_means(model: Any) -> bool:
    """Whether a step's loss is the mean over the epoch so far, as Keras' own step reports it."""
    return type(model).train_step.__module__.split(".")[0] in ("keras", "tf_keras")


def wait_for_device(model: Any) -> None:
    """Returns once the device has done what it was given; reads the smallest weight for that."""
    variables = model.trainable_variables
    if variables:
        _array(min(variables, key=lambda variable: int(np.prod(variable.shape))))


def weight_histograms(model: Any) -> dict[str, npt.NDArray[np.float64]]:
    """Histograms of each layer's own trainable weights, by tag."""
    found = {}
    for path, layer in owners(package_of(model), model):
        variables = [variable for variable in layer.trainable_variables if len(variable.shape)]
        if variables and not getattr(layer, "layers", None):
            values = np.concatenate([_array(variable).astype(np.float32).ravel() for variable in variables])
            found[of_layer(WEIGHTS, path)] = histogram(values)
    return found


def _array(value: Any) -> npt.NDArray[Any]:
    """A variable, a tensor or a number. A variable that several devices mirror has `numpy`, and NumPy cannot take it itself."""
    if callable(getattr(value, "detach", None)):  # PyTorch's tensors keep to their device
        value = value.detach().cpu()
    numpy = getattr(value, "numpy", None)
    return np.asarray(numpy() if callable(numpy) else value)


def is_end_of_data(error: Exception) -> bool:
    """Whether an error is how an iterator says that there are no more batches."""
    import tensorflow as tf

    return isinstance(error, StopIteration | tf.errors.OutOfRangeError)


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


AIM = 0.8
"""Part of the allowed share that is aimed at: single costs differ, and what they cost is known only afterwards."""
FIRST_STEPS = 3
"""Steps before the first look: the first is spent on tracing, the others show how long a step takes."""
SHORT_PREPARATION_S = 2.0
"""What tracing the watched step may take in a training too short to pay for it within the share."""
WINDOW_STEPS = 200
SHORTEST_PERIOD_S = 0.1
PERIOD_DOUBLES_EVERY = 500
"""Looks after which the shortest time between two is doubled: the log of a long training grows with its logarithm."""


class Schedule:
    """Chooses steps (counted from 1) by what the looks so far have cost; or every `every`-th one, when that is given.

    Args:
        share: of the training's time that looks may take.
        every: a fixed distance in steps; then costs do not matter.
    """

    def __init__(self, share: float, every: int | None = None) -> None:
        self.share, self.every = share, every
        self.next = every or FIRST_STEPS + 1
        """The next step to look at."""
        self.looks = 0
        self.spent_s = 0.0
        self.prepared_s = 0.0
        self.plain_s = 0.0
        """Time of the steps that were not looked at, and of what the looked-at ones would have taken."""
        self.step_s = 0.0
        """Mean time of a step that was not looked at, over the last few hundred."""
        self.total_steps: int | None = None
        """Of the whole training, where that is known."""
        self._cost_s = 0.0
        self._window = (0.0, 0.0)

    @property
    def spent_share(self) -> float:
        """Looks' part of the training's time so far, without preparing."""
        total = self.plain_s + self.spent_s
        return self.spent_s / total if total > 0 else 0.0

    def may_prepare(self, expected_s: float) -> bool:
        """Whether tracing the watched step is worth it; asked before the first look.

        Args:
            expected_s: what it will take, once: as long as tracing the plain step took.
        """
        if self.every or expected_s <= SHORT_PREPARATION_S or self.total_steps is None:
            return True
        return expected_s <= self.share * self.total_steps * self.step_s

    def ran(self, steps: int, seconds: float) -> None:
        """Steps that were not looked at took so long."""
        if steps <= 0:
            return
        self.plain_s += seconds
        if self._window[0] >= WINDOW_STEPS:
            self._window = (self._window[0] / 2, self._window[1] / 2)
        self._window = (self._window[0] + steps, self._window[1] + seconds)
        self.step_s = self._window[1] / self._window[0]

    def looked(self, step: int, seconds: float, *, steps: int = 1, prepared: bool = False) -> None:
        """A look took so long, from `step - steps` to `step`; `prepared` when the watched step was traced in that time."""
        usual = self.step_s * steps
        extra = max(0.0, seconds - usual)
        self.plain_s += min(seconds, usual)
        if prepared:
            self.prepared_s += extra
            self.next = step + (self.every or 1)
            return
        self.looks += 1
        self.spent_s += extra
        # Recent looks count for more: the first ones still warm up.
        self._cost_s = extra if self.looks == 1 else 0.7 * self._cost_s + 0.3 * extra
        self.next = step + (self.every or self._distance())

    def _distance(self) -> int:
        if self.step_s <= 0:
            return 1
        aim = self._aim()
        period = SHORTEST_PERIOD_S * 2.0 ** min(40, self.looks // PERIOD_DOUBLES_EVERY)
        by_cost = self._cost_s * (1 - aim) / aim
        # What was overspent so far is waited for as well.
        owed = self.spent_s * (1 - aim) / aim - self.plain_s + by_cost
        return max(1, math.ceil(max(period, by_cost, owed) / self.step_s))

    def _aim(self) -> float:
        """The share for looks. Preparing is paid from it over the whole training, down to half of it."""
        whole = self.share * AIM
        if not self.total_steps:
            return whole
        return max(whole / 2, whole - self.prepared_s / (self.total_steps * self.step_s))
