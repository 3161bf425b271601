"""One call of `model.fit` in a process that has run nothing before, as a user's own would be: its peak and its time. Used in a worker.

A step keeps what the backward pass reads, makes a gradient for each weight and holds what the optimizer keeps, so only a
real call says what it takes. The first step traces; those after it are timed.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from stethoscope.memory.configure import Configured
from stethoscope.memory.fit_call import FitCall, labels_of
from stethoscope.memory.fit_changes import FitChange
from stethoscope.memory.plain import AtSize
from stethoscope.memory.plain_calls import input_of, ready
from stethoscope.memory.plain_run import PlainRun, Purpose
from stethoscope.memory.precision import rebuilt_within, with_precision
from stethoscope.memory.run_settings import give_back
from stethoscope.memory.training_points import HeldBytes
from stethoscope.models.capabilities import LiveModel
from stethoscope.program.setup import Setup
from stethoscope.task import TaskContext
from stethoscope.training.compiled import build_optimizer, live_losses, live_optimizer
from stethoscope.training.from_job import model_to_train
from stethoscope.training.model import as_taken, package
from stethoscope.types import Refusal, Runner

BATCHES = 3
"""In one call: the first traces, two are timed."""
COPIES = 2
"""Of the data while `fit` runs: the arrays, and the tensors that it makes of them.
Source: keras/src/trainers/data_adapters/array_data_adapter.py (`convert_to_arrays`, `from_tensor_slices`)."""


@dataclass(frozen=True)
class HeldRun:
    """What one call came to, and what it held."""

    run: PlainRun
    held: HeldBytes


def measured_fit(
    context: TaskContext,
    opened: Configured,
    how: FitCall,
    at: AtSize,
    rows: int,
    purpose: Purpose,
    change: FitChange | None = None,
) -> HeldRun:
    """Trains on `BATCHES` batches of so many rows in this process, which has run nothing yet.

    Raises:
        CannotRun: the model cannot be changed so.
        Exception: as the framework raises it, when memory runs out.
    """
    seed = int(context.params.get("seed", 0))
    loading = context.memory.peak_bytes()
    given = input_of(context, opened, at, rows, seed)
    count = rows * BATCHES
    feed = given.batching.take(given.feed, count)
    y = [target.array(count, seed) for target in how.targets]
    if not y:
        labels = labels_of(context, opened.architecture)
        y = [labels[name][np.arange(count) % len(labels[name])] for name in how.outputs]
        del labels
    del given
    opened.runner = changed(opened.runner, change)
    model = model_to_train(opened.runner, opened.architecture, context.files["model"].name)
    compiled(model, how, change)
    x = [feed[spec.name] for spec in opened.runner.inputs]
    give_back()  # what drawing the data left free
    context.memory.reset()
    batch = rows // change.accumulate if change and change.accumulate else rows
    ended = fitted(model, how, x, y, batch)
    peak = context.memory.peak_bytes()
    step_s = min(after - before for before, after in pairwise(ended)) * (rows // batch)
    if change is not None and (change.precision or change.remat):
        loading = 0  # building it anew is none of the user's: there it is built so at once
    held = HeldBytes(
        _bytes_of(model.variables),
        _bytes_of(model.trainable_variables),
        _bytes_of(_kept_by(model.optimizer)),
        COPIES * sum(array.nbytes for array in (*x, *y)),
    )
    return HeldRun(PlainRun(rows, purpose, peak, loading, step_s), held)


def measured_predict(context: TaskContext, opened: Configured, at: AtSize, rows: int) -> HeldRun:
    """Calls `model.predict` on the rows that `measured_fit` trains on, in a process that has run nothing yet.

    Raises:
        Exception: as the framework raises it, when memory runs out.
    """
    loading = context.memory.peak_bytes()
    opened.settings = replace(opened.settings, call="predict", batch_size=rows)
    call = ready(opened)
    given = input_of(context, opened, at, rows, int(context.params.get("seed", 0)))
    feed = given.batching.take(given.feed, rows * BATCHES)
    del given
    context.memory.reset()
    start = time.perf_counter()
    outputs = call(feed)
    step_s = (time.perf_counter() - start) / BATCHES
    peak = context.memory.peak_bytes()
    model = model_to_train(opened.runner, opened.architecture, context.files["model"].name)
    held = HeldBytes(
        weights=_bytes_of(model.variables),
        inputs=COPIES * sum(array.nbytes for array in feed.values()),
        outputs=2 * sum(array.nbytes for array in outputs.values()),
    )
    return HeldRun(PlainRun(rows, "point", peak, loading, step_s), held)


def compiled(model: Any, how: FitCall, change: FitChange | None) -> None:
    """`model.compile` as `how` says, with another optimizer or gradients added up where asked."""
    optimizer = dict(how.optimizer)
    if change is not None and change.optimizer:
        optimizer = {"class_name": change.optimizer, "config": {}}
    if change is not None and change.accumulate:
        config = {**(optimizer.get("config") or {}), "gradient_accumulation_steps": change.accumulate}
        optimizer = {**optimizer, "config": config}
    setup = Setup(None, how.modern, None, losses=how.losses, optimizer=optimizer, outputs=how.outputs)
    losses = live_losses(setup)
    model.compile(
        optimizer=live_optimizer(setup),
        loss=losses[0] if len(losses) == 1 else as_taken(model, how.modern, losses, outputs=True),
        loss_weights=list(how.loss_weights) if len(how.loss_weights) == len(losses) > 1 else None,
        metrics=_metrics(how),
        jit_compile=True if how.jit_compile else None if not how.modern else "auto",
    )
    if how.from_file:  # loading a compiled file makes what the optimizer keeps, `fit` does elsewhere
        build_optimizer(model.optimizer, model.trainable_variables)


def _metrics(how: FitCall) -> Any:
    if not how.metrics:
        return None
    try:
        return package(how.modern).saving.deserialize_keras_object(how.metrics)
    except (ValueError, TypeError, ImportError, AttributeError):
        return None


def fitted(model: Any, how: FitCall, x: Sequence[Any], y: Sequence[Any], batch_size: int) -> list[float]:
    """Calls `fit` once over all rows; returns when each batch ended, in seconds."""
    keras = package(how.modern)
    ended: list[float] = []

    class Clock(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            ended.append(time.perf_counter())

    model.fit(
        as_taken(model, how.modern, x),
        y[0] if len(y) == 1 else as_taken(model, how.modern, y, outputs=True),
        batch_size=batch_size,
        epochs=1,
        verbose=0,
        callbacks=[Clock()],
    )
    return ended


def changed(runner: Runner, change: FitChange | None) -> Runner:
    """The model with a change that is one of its layers; the given runner must not be used any more.

    Raises:
        CannotRun: it cannot be rebuilt, or has no layers that could be computed again.
    """
    if change is None:
        return runner
    if change.precision:
        return with_precision(runner, change.precision)
    live = runner.can(LiveModel)
    if not change.remat or isinstance(live, Refusal):
        return runner
    if change.remat == "activations":
        return rebuilt_within(runner, live.keras.RematScope(mode="activations"))
    for layer in layers_to_recompute(live.model):
        _compute_again(layer)
    return runner


def layers_to_recompute(model: Any) -> list[Any]:
    """Layers that come out the same when they are computed twice: none that draws random numbers or counts what it saw."""
    return [layer for layer in model.layers if not layer.non_trainable_variables]


def _compute_again(layer: Any) -> None:
    import tensorflow as tf

    call = layer.call

    @functools.wraps(call)
    def again(*args: Any, **more: Any) -> Any:
        return tf.recompute_grad(lambda *tensors: call(*tensors, **more))(*args)

    layer.call = again


def _bytes_of(variables: Sequence[Any]) -> int:
    return sum(int(np.prod(variable.shape)) * np.dtype(_dtype(variable)).itemsize for variable in variables)


def _dtype(variable: Any) -> str:
    name = str(getattr(variable.dtype, "name", variable.dtype))
    return "float16" if name == "bfloat16" else name


def _kept_by(optimizer: Any) -> list[Any]:
    kept = optimizer.variables
    return list(kept() if callable(kept) else kept)
