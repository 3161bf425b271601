"""The callback: records losses, metrics, gradients, updates, activations, memory and time while `fit` trains."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stethoscope.errors import BadInput
from stethoscope.logs import curves
from stethoscope.logs.curves import MEMORY
from stethoscope.training.recording.event_writer import TRAIN, VALIDATION, RunFiles
from stethoscope.training.recording.layer_looks import (
    LayerLooks,
    Schedule,
    TrainFunction,
    learning_rate,
    logs_are_means,
    numbers,
    steps_done,
    steps_per_call,
    trains_on_tensorflow,
    wait_for_device,
    weight_histograms,
    writes_summaries,
)


def memory_in_use() -> dict[str, float]:
    """Bytes by tag: resident memory of this process; of each card what is held and the most that was held so far."""
    found = {f"{MEMORY}/resident_bytes": float(_process().memory_info().rss)}
    for name in _cards():
        held = _card_memory(name)
        if held:
            card = name.lower().replace(":", "_")
            found[f"{MEMORY}/{card}_bytes"] = float(held["current"])
            found[f"{MEMORY}/{card}_peak_bytes"] = float(held["peak"])
    return found


@functools.cache
def _process() -> Any:
    import psutil

    return psutil.Process()


@functools.cache
def _cards() -> tuple[str, ...]:
    import tensorflow as tf

    return tuple(f"GPU:{index}" for index, _ in enumerate(tf.config.list_logical_devices("GPU")))


def _card_memory(name: str) -> dict[str, int]:
    import tensorflow as tf

    try:
        return dict(tf.config.experimental.get_memory_info(name))
    except ValueError:  # an allocator that keeps no statistics
        return {}


DEFAULT_SHARE = 0.05
HELD_OUT = "val_"
SHORT_EPOCH = 8
"""Steps; in epochs shorter than that the first one is looked at like any other."""


class Recorder:
    """Writes TensorBoard event files while a Keras model trains.

    `model.fit(…, callbacks=[Recorder("logs/run1")])` fills `logs/run1/train` and `logs/run1/validation`, which TensorBoard
    reads too. Each epoch: `epoch_<name>` of every loss and metric. At chosen steps: `batch_loss` and other `batch_…`,
    and the measurements that `stethoscope.logs.curves` names. `batch_loss` is the mean since the point before it in its
    epoch; other `batch_…` are the epoch's so far. Works with Keras 3 on TensorFlow and with tf_keras; a model of Keras 3
    ends with the weights it would have had, one of tf_keras draws other random numbers in its dropout.

    Args:
        log_dir: folder of this run; made when it is not there.
        every: steps from one look to the next; None chooses them so that recording takes at most `share`.
        share: of the training's time that may be spent on looks, above 0 and below 1. Tracing the watched step, once,
            comes on top.
        layers: whether gradients, updates and activations are measured; if not, only losses, memory and time.
        histograms: whether the weights of each layer are written as a histogram at the end of each epoch.

    Raises:
        BadInput: an argument is out of its range.
    """

    async_safe = True
    _supports_tf_logs = True

    def __init__(
        self,
        log_dir: str | Path,
        *,
        every: int | None = None,
        share: float = DEFAULT_SHARE,
        layers: bool = True,
        histograms: bool = False,
    ) -> None:
        super().__init__()
        if every is not None and every < 1:
            raise BadInput(
                f"Recorder's every: expected steps of 1 or more, got {every}. Leave it out to have it chosen."
            )
        if not 0 < share < 1:
            raise BadInput(f"Recorder's share: expected above 0 and below 1, got {share}. 0.05 is 5 %.")
        self.log_dir = Path(log_dir)
        self.schedule = Schedule(share, every)
        self._every, self._share, self._wants_layers, self._wants_histograms = every, share, layers, histograms
        self._trained: Any = None
        self._last_trained: Any = None
        self._fit: dict[str, Any] = {}
        self._files = RunFiles(self.log_dir)
        self._looks: LayerLooks | None = None
        """None where single steps cannot be looked at."""
        self._first_step = self._epoch_start = self._begun = 0
        """Steps done when this `fit`, this epoch and this step began."""
        self._epoch_open = self._starting = False
        self._epoch_steps = SHORT_EPOCH
        """Of the last epoch."""
        self._epoch_shift: int | None = None
        """What is added to the epochs of this `fit`; None before its first one."""
        self._next_epoch = 0
        self._plain: TrainFunction | None = None
        self._epoch_began = self._traced_s = 0.0
        self._since: tuple[int, float] = (0, 0.0)
        self._mean: tuple[int, float] = (0, 0.0)

    def _implements_train_batch_hooks(self) -> bool:
        return True  # tf_keras asks

    def _implements_test_batch_hooks(self) -> bool:
        return False

    def _implements_predict_batch_hooks(self) -> bool:
        return False

    def set_params(self, params: Mapping[str, Any] | None) -> None:
        """Takes what `fit` was called with."""
        self.params = self._fit = dict(params or {})

    def set_model(self, model: Any) -> None:
        """Takes the model that will be trained."""
        self._trained = self._model = model

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Goes on with what was traced when the same model trains on; else begins anew."""
        model = self._trained
        self._epoch_shift = None
        self._files.muted = not writes_summaries(model)
        if model is not self._last_trained:
            self._last_trained, self._next_epoch, self._epoch_start = model, 0, 0
        if self._looks is not None and model.train_function is self._plain:
            self._grow(self.schedule.total_steps or 0)
            return
        self._plain, self._first_step = model.train_function, self._epoch_start
        self.schedule = Schedule(self._share, self._every)
        self._grow(0)
        self._looks = LayerLooks(model, self.log_dir, self._wants_layers)
        if not trains_on_tensorflow(model):
            self._looks.give_up("Keras does not run on TensorFlow", "The losses and metrics of each epoch")
            self._looks = None

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Losses and metrics begin anew; in the first epoch new files begin, where the optimizer and earlier epochs are."""
        if self._epoch_shift is None:
            self._epoch_shift = max(0, self._next_epoch - epoch)
            # A model compiled anew begins to count anew; its curves go on.
            self._begun = max(self._epoch_start, steps_done(self._trained))
            self._first_step += self._begun - self._epoch_start
            self._epoch_start = self._begun
            first = self._begun + 1 if self._begun else 0
            self._files.begin({TRAIN: first, VALIDATION: epoch + self._epoch_shift})
        self._mean = (0, 0.0)
        self._epoch_began = time.perf_counter()
        self._since = (self._epoch_start, self._epoch_began)
        # An epoch's first step waits for the data to flow: it says little about the others, if there are others.
        self._starting = (self._fit.get("steps") or self._epoch_steps) >= SHORT_EPOCH

    def on_train_batch_begin(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Puts the watched step in place of the plain one when it is time for a look."""
        self._begun, self._epoch_open = self._epoch_start + batch, True
        if self._looks is None:
            return
        seen = self._begun - self._first_step
        if self._starting and batch:
            self._starting, self._since = False, (self._begun, time.perf_counter())
        if seen == 0:
            self._trained.train_function = self._timed(self._trained.train_function)
        elif seen + 1 >= self.schedule.next and not self._starting:
            self._trained.train_function = self._looking(self._looks, self._trained.train_function)

    def on_test_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """The epoch's training is over once validation begins: its time counts no longer."""
        self._count_plain_steps()

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Writes the epoch's losses and metrics, its time, and its weights where they are wanted."""
        epoch += self._epoch_shift or 0
        self._next_epoch = epoch + 1
        self._count_plain_steps()
        begin = time.perf_counter()
        values = numbers(logs)
        train = {f"epoch_{name}": value for name, value in values.items() if not name.startswith(HELD_OUT)}
        held = {f"epoch_{name[len(HELD_OUT) :]}": value for name, value in values.items() if name.startswith(HELD_OUT)}
        rate = learning_rate(self._trained)
        if rate is not None:
            train.setdefault("epoch_learning_rate", rate)
        train[f"{curves.TIME}/epoch_s"] = begin - self._epoch_began
        self._files.put(TRAIN, epoch, train, weight_histograms(self._trained) if self._wants_histograms else None)
        self._files.put(VALIDATION, epoch, held)
        self.schedule.spent_s += time.perf_counter() - begin

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """Ends the files."""
        self._files.close()

    def _grow(self, steps: int) -> None:
        """The training will have this many steps more than `fit` was called for."""
        each, epochs = self._fit.get("steps"), self._fit.get("epochs")
        self.schedule.total_steps = steps + int(each) * int(epochs) if each and epochs else None

    def _count_plain_steps(self) -> None:
        """Ends the epoch's training, once: at its validation or, without one, at its end."""
        if not self._epoch_open:
            return
        self._epoch_open = False
        done = self._begun + steps_per_call(self._trained)
        if limit := self._fit.get("steps"):
            done = min(done, self._epoch_start + int(limit))
        if not self._starting:
            self.schedule.ran(done - self._since[0], time.perf_counter() - self._since[1])
        self._epoch_steps, self._epoch_start = done - self._epoch_start, done

    def _timed(self, plain: TrainFunction) -> TrainFunction:
        """The first step: how long it takes is how long tracing takes."""

        def run(iterator: Any) -> Any:
            self._trained.train_function = plain
            begin = time.perf_counter()
            logs = plain(iterator)
            wait_for_device(self._trained)
            now = time.perf_counter()
            self._traced_s = now - begin
            self._since = (self._begun + steps_per_call(self._trained), now)
            return logs

        return run

    def _looking(self, looks: LayerLooks, plain: TrainFunction) -> TrainFunction:
        """A step that is looked at."""

        def run(iterator: Any) -> Any:
            self._trained.train_function = plain
            wait_for_device(self._trained)
            begin = time.perf_counter()
            self.schedule.ran(self._begun - self._since[0], begin - self._since[1])
            per_call = steps_per_call(self._trained)
            step = self._begun + per_call
            logs = looks.call(plain, iterator, self.schedule, self._traced_s)
            self._write(step, logs, looks.values)
            now = time.perf_counter()
            self.schedule.looked(step - self._first_step, now - begin, steps=per_call, prepared=looks.preparing)
            self._since = (step, now)
            return logs

        return run

    def _write(self, step: int, logs: Any, layers: Mapping[str, float]) -> None:
        done = step - self._epoch_start
        values = {f"batch_{name}": value for name, value in numbers(logs).items()}
        if "batch_loss" in values and logs_are_means(self._trained):
            seen, mean = self._mean
            self._mean = (done, values["batch_loss"])
            values["batch_loss"] = (values["batch_loss"] * done - mean * seen) / max(1, done - seen)
        rate = learning_rate(self._trained)
        if rate is not None:
            values["batch_learning_rate"] = rate
        if self.schedule.step_s:
            values[f"{curves.TIME}/step_s"] = self.schedule.step_s
            values[f"{curves.TIME}/recording_fraction"] = self.schedule.spent_share
        self._files.put(TRAIN, step, {**values, **layers, **memory_in_use()})


def callback_class() -> type[Recorder]:
    """`Recorder` as a Keras callback. Imports Keras."""
    import keras

    names = {"__module__": "stethoscope.keras", "__doc__": Recorder.__doc__}
    return type("Recorder", (Recorder, keras.callbacks.Callback), names)
