"""One live model that is trained again and again: other data scale, rate, batch size, epochs or seed, without building anew. Worker only."""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.errors import StethoscopeError
from stethoscope.evidence.training import LayerTraining, RunCurve
from stethoscope.framework_errors import let_through
from stethoscope.program.setup import Setup
from stethoscope.training.compiled import build_optimizer, live_losses, live_optimizer, set_rate
from stethoscope.training.instruments import PROBE_ROWS, Probe, Recording, StepStatistics, owners, sample_steps
from stethoscope.training.loop import Batches, Evaluation, Loop
from stethoscope.training.model import (
    Weights,
    as_fed,
    build,
    call,
    package,
    restore,
    rows_at_once,
    snapshot,
    variables_of,
)
from stethoscope.training.outcome import FitCrash, Recorder, crash_sentence, is_tracing_failure

STRETCH_S = 0.25
"""A call into the loop is sized to take about so long, so that time limits and cancelling hold."""
MAX_STRETCH_ROWS = 1 << 21
SHORT_STEP_S = 0.01
SCORE_MARKS = 20
SCORE_SHARE = 0.12
"""Scores between epochs take at most this share of a run's time."""
WATCH_SHARE = 0.25
"""Steps are left unsampled while the instruments have taken more than this share of a run's time."""
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class RunState:
    """Where a run stopped, so that a longer one can go on from there."""

    variables: list[npt.NDArray[Any]]
    slots: list[npt.NDArray[Any]]
    batches: Batches
    recorder: Recorder


def structure_key(setup: Setup) -> str:
    """What a traced model depends on; setups with equal keys can share a `Trainer`."""
    optimizer = dict(setup.optimizer)
    config = dict(optimizer.get("config") or {})
    if setup.learning_rate is not None:
        config["learning_rate"] = 0
    parts = [setup.config, setup.losses, setup.loss_weights, optimizer | {"config": config}, setup.modern]
    return json.dumps(parts, sort_keys=True, default=repr)


class Trainer:
    """Trains copies of one model with one optimizer and set of losses.

    Raises:
        CannotRun: Keras cannot build the model, the losses or the optimizer.
    """

    def __init__(self, setup: Setup) -> None:
        self.key = structure_key(setup)
        self.model = setup.live if setup.live is not None else build(setup)
        keras = package(setup.modern)
        self._keras, self._modern = keras, setup.modern
        self.losses, self.optimizer = live_losses(setup), live_optimizer(setup)
        self._weights = Weights(self.model, setup)
        self._statistics = StepStatistics(keras, self.model)
        self._loop = Loop(setup, self.model, self.losses, self.optimizer, self._statistics)
        self.evaluation = Evaluation(self.model, setup.modern, self._loop)
        self._variables = variables_of(self.model)
        self._slots: list[Any] = []
        self._first_slots: list[npt.NDArray[Any]] = []
        self._tensors: dict[int, tuple[npt.NDArray[Any], Any]] = {}
        self._probe: Probe | None = None
        self.step_s = 0.0
        self.layers: tuple[LayerTraining, ...] = ()
        self.sampled_steps: tuple[int, ...] = ()

    def start(self, setup: Setup, seed: int) -> None:
        """Puts weights, optimizer and rate to where a run of this seed begins."""
        self._weights.start(setup, seed)
        if not self._first_slots:
            self._slots = build_optimizer(self.optimizer, self.model.trainable_variables)
            self._first_slots = snapshot(self._slots)
        restore(self._slots, self._first_slots)
        set_rate(self.optimizer, setup)

    def warm_up(self, setup: Setup) -> None:
        """Traces the loop with the setup's data, falling back to slower ways to run; leaves the model changed.

        Raises:
            FitCrash: one step cannot be run: `fit` would crash.
        """
        self._check_rows(setup)
        self.start(setup, 0)
        while True:
            try:
                batches = Batches(setup.rows, setup.batch_size, shuffle=False, seed=0)
                self._loop.steps(*self._data(setup), batches.take(1), sample=False)
                for count in (1, 20):
                    begin = time.perf_counter()
                    self._loop.steps(*self._data(setup), batches.take(count), sample=False)
                    self.step_s = (time.perf_counter() - begin) / count
                    if self.step_s > SHORT_STEP_S:  # else it is the call that was timed
                        break
                return
            except StethoscopeError:
                raise
            except Exception as error:
                let_through(error)
                if is_tracing_failure(error) and self._loop.degrade():
                    continue
                raise FitCrash(crash_sentence(setup, self.model, error), error) from error

    def run(
        self,
        setup: Setup,
        seed: int,
        *,
        time_s: float,
        instrument: bool = False,
        max_steps: int | None = None,
        resume: RunState | None = None,
        scores_between: bool = True,
        on_progress: OnProgress | None = None,
    ) -> RunCurve:
        """Trains for the setup's epochs, or until `time_s` seconds or `max_steps` steps are over.

        With `instrument`, `layers` and `sampled_steps` hold what was measured afterwards. With `resume`, goes on from
        where another run of the same setup and seed stopped; its steps count.

        Raises:
            FitCrash: a step cannot be run: `fit` would crash.
        """
        begin = time.perf_counter()
        if self.step_s == 0.0:
            self.warm_up(setup)
        try:
            return self._run(setup, seed, begin, time_s, instrument, max_steps, resume, scores_between, on_progress)
        except StethoscopeError:
            raise
        except Exception as error:
            let_through(error)
            raise FitCrash(crash_sentence(setup, self.model, error), error) from error

    def batch_loss(self, setup: Setup) -> Callable[[], Any]:
        """Puts the weights to where a run of seed 0 begins; returns the loss on a fixed batch, in inference mode, as a function."""
        self.start(setup, 0)
        rows = np.sort(np.random.default_rng(0).permutation(setup.rows)[: self._probe_rows(setup)])
        batch = [_tensor(np.asarray(array)[rows]) for array in setup.x.values()]
        truth = [_tensor(np.asarray(array)[rows]) for array in setup.y]

        def loss() -> Any:
            return self._loop.total_loss(truth, call(self.model, self._modern, batch, training=False), None)

        return loss

    def state(self) -> RunState:
        """Where the last run stopped."""
        return RunState(
            snapshot(self._variables), snapshot(self._slots), copy.deepcopy(self._batches), self._recorder.copy()
        )

    def _run(
        self,
        setup: Setup,
        seed: int,
        begin: float,
        time_s: float,
        instrument: bool,
        max_steps: int | None,
        resume: RunState | None,
        scores_between: bool,
        on_progress: OnProgress | None,
    ) -> RunCurve:
        if resume is None:
            self.start(setup, seed)
            batches = Batches(setup.rows, setup.batch_size, shuffle=setup.shuffle, seed=seed)
            recorder = Recorder(seed, batches.steps_per_epoch)
            recorder.start = self.evaluation.scores(setup)
        else:
            restore(self._variables, resume.variables)
            restore(self._slots, resume.slots)
            set_rate(self.optimizer, setup)
            batches, recorder = copy.deepcopy(resume.batches), resume.recorder.copy()
        self._batches, self._recorder = batches, recorder
        total = max(1, math.ceil(setup.epochs * batches.steps_per_epoch))
        total = total if max_steps is None else min(total, max_steps)
        recording = self._recording(setup, total) if instrument else None
        before = self._by_layer() if instrument else {}
        marks = _marks(total, batches.steps_per_epoch) if scores_between else []
        deadline, scoring_s, watching_s, stopped = begin + time_s, 0.0, 0.0, ""
        rows_limit = max(1, MAX_STRETCH_ROWS // batches.batch_size)
        while batches.step < total:
            now = time.perf_counter()
            if now >= deadline and batches.step > 0:
                stopped = "time"
                break
            count = int(min(total - batches.step, max(1, STRETCH_S / max(self.step_s, 1e-7)), rows_limit))
            count = int(min(count, max(1, (deadline - now) / max(self.step_s, 1e-7))))
            events = [mark for mark in marks if mark > batches.step]
            if recording is not None:
                events += [step for step in recording.wanted if step > batches.step]
            count = min([count, *(event - batches.step for event in events)])
            sample = recording is not None and batches.step + count in recording.wanted
            if sample and batches.step + count not in (1, total):
                sample = watching_s <= WATCH_SHARE * (now - begin)
            stretch = batches.take(count)
            losses, statistics = self._loop.steps(*self._data(setup), stretch, sample=sample)
            spent = time.perf_counter() - now
            self.step_s = spent / count if count > 4 else 0.8 * self.step_s + 0.2 * spent / count
            recorder.add(losses, stretch.sizes)
            if recording is not None and statistics is not None:
                watched = time.perf_counter()
                recording.add(batches.step, statistics)
                # The first sample traces the probe, once for all runs.
                watching_s += time.perf_counter() - watched if len(recording.steps) > 1 else 0.0
            if on_progress is not None:
                on_progress(batches.step, total)
            if not np.isfinite(losses[-1]):
                stopped = "non-finite"
                break
            elapsed = time.perf_counter() - begin
            if batches.step in marks and scoring_s <= SCORE_SHARE * elapsed:
                scored = time.perf_counter()
                recorder.scores.append(self.evaluation.scores(setup))
                recorder.score_epochs.append(batches.step // batches.steps_per_epoch)
                scoring_s += time.perf_counter() - scored
        final = self.evaluation.scores(setup)
        recorder.wall_s += time.perf_counter() - begin
        if recording is not None:
            self.layers = recording.layers(self._keras, self.model, _changes(before, self._by_layer()))
            self.sampled_steps = tuple(recording.steps)
        return recorder.curve(final, stopped)

    def _recording(self, setup: Setup, total: int) -> Recording:
        order = np.random.default_rng(0).permutation(setup.rows)[: self._probe_rows(setup)]
        if self._probe is None and self._loop.how == "graph":
            self._probe = Probe(self._modern, self.model)
        rows = [np.asarray(array[np.sort(order)]) for array in setup.x.values()]
        return Recording(self._statistics, self._probe, [_tensor(array) for array in rows], set(sample_steps(total)))

    def _probe_rows(self, setup: Setup) -> int:
        return rows_at_once(setup, self.model, PROBE_ROWS)

    def _by_layer(self) -> dict[str, npt.NDArray[Any]]:
        """Each layer's own weights as one vector."""
        found: dict[str, npt.NDArray[Any]] = {}
        for path, layer in owners(self._keras, self.model):
            own = [np.asarray(weight).reshape(-1) for weight in layer.weights]
            if own and not getattr(layer, "layers", None):
                found[path] = np.concatenate(
                    [item.astype(np.float64) for item in own if item.dtype.kind == "f"] or [np.zeros(0)]
                )
        return found

    def _data(self, setup: Setup) -> tuple[list[Any], list[Any], Any]:
        weights = row_weights(setup)
        return (
            [self._tensor(array) for array in setup.x.values()],
            [self._tensor(array) for array in setup.y],
            None if weights is None else self._tensor(weights),
        )

    def _tensor(self, array: npt.NDArray[Any]) -> Any:
        """The array on the device; kept for the next call, a few at a time."""
        found = self._tensors.get(id(array))
        if found is None or found[0] is not array:
            if len(self._tensors) >= 12:
                self._tensors.clear()
            found = self._tensors[id(array)] = (array, _tensor(array))
        return found[1]

    def _check_rows(self, setup: Setup) -> None:
        sizes = {name: len(array) for name, array in setup.x.items()} | {
            f"y ({name})" if len(setup.y) > 1 else "y": len(array)
            for name, array in zip(setup.outputs or ("y",) * len(setup.y), setup.y, strict=False)
        }
        if len(set(sizes.values())) > 1:
            raise FitCrash(f"fit stops: inputs and targets must have the same number of rows, but they have {sizes}.")
        if 0 in sizes.values():
            raise FitCrash("fit stops: the data has no rows.")


def row_weights(setup: Setup) -> npt.NDArray[Any] | None:
    """What each row counts for: its sample weight times its class' weight; None when all count 1.

    Source: keras.Model.fit's class_weight: the class is the target itself, or the position of its highest value.
    """
    weights = None if setup.sample_weight is None else np.asarray(setup.sample_weight, np.float32)
    if setup.class_weight and setup.y:
        y = np.asarray(setup.y[0])
        labels = y.argmax(axis=-1) if y.ndim > 1 and y.shape[-1] > 1 else y.reshape(len(y), -1)[:, 0]
        factors = np.array([setup.class_weight.get(int(label), 1.0) for label in labels], np.float32)
        weights = factors if weights is None else weights * factors
    return weights


def _tensor(array: npt.NDArray[Any]) -> Any:
    import tensorflow as tf

    return tf.constant(as_fed(array))


def _marks(total: int, steps_per_epoch: int) -> list[int]:
    """Steps at whose end scores are taken: the ends of at most `SCORE_MARKS` epochs."""
    epochs = total // steps_per_epoch
    chosen = {round(place) for place in np.linspace(1, max(1, epochs), min(max(1, epochs), SCORE_MARKS))}
    return sorted(place * steps_per_epoch for place in chosen if 0 < place * steps_per_epoch <= total)


def _changes(before: Mapping[str, npt.NDArray[Any]], after: Mapping[str, npt.NDArray[Any]]) -> dict[str, float]:
    return {
        path: float(np.linalg.norm(after[path] - value) / (np.linalg.norm(value) + 1e-12))
        for path, value in before.items()
        if path in after and value.size
    }
