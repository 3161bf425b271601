"""Predict under a memory limit, in a process like the user's own or in one with lean settings."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from stethoscope.codec import decode
from stethoscope.data.dummy import ModelInput
from stethoscope.errors import BadInput, CannotRun
from stethoscope.memory.batch_outputs import Batches
from stethoscope.memory.calibrate import calibrate
from stethoscope.memory.call_styles import Caller
from stethoscope.memory.configure import Configured, configured, settings_of
from stethoscope.memory.estimator import Estimator
from stethoscope.memory.fit import PeakFit
from stethoscope.memory.foretold import Foretold
from stethoscope.memory.growth import sizes_below
from stethoscope.memory.plain import AtSize
from stethoscope.memory.plain_calls import input_of, measured, ready
from stethoscope.memory.plain_run import Wanted
from stethoscope.memory.prediction import Prediction, PredictionRun
from stethoscope.memory.run_settings import RunSettings
from stethoscope.task import InNewProcess, TaskContext
from stethoscope.types import Status


@dataclass(frozen=True)
class _Kept:
    """What one process of a prediction hands to the next."""

    at: AtSize
    probe: int | None
    """A small batch that is still to be run on its own."""
    lean_bytes: int | None
    precision_difference: Mapping[str, float | None]
    foretold: Foretold | None = None
    """What the graph says; None where that is not known, and small batches are measured instead."""


class Predict:
    """Predicts on files["data"], or on random input.

    params: {"settings" (or "batch_size" alone), "samples", "size" (of open dimensions of random input), "seed",
    "trusted"}. Leaves one .npy for each output.
    """

    kind = "predict"
    answer = Prediction

    def run(self, context: TaskContext) -> Prediction | InNewProcess:
        """Predicts the peak from small batches, then runs all rows.

        Raises:
            OutOfMemory: memory ran out; what would fit is in the details.
        """
        settings = settings_of(context)
        if settings.allocator != "pool":
            return _in_one_process(context, settings)
        if context.before is None:
            return _begun(context, replace(settings, allocator="system"))
        kept = decode(_Kept, context.before.state)
        if kept.probe is not None and context.before.status is Status.OK:
            return _small_batch(context, settings, kept, kept.probe)
        return _all_rows(context, settings, kept)


def _in_one_process(context: TaskContext, settings: RunSettings) -> Prediction:
    with configured(context, settings) as opened:
        loaded_bytes, batches = context.memory.added_bytes(), Batches(context)
        given, call = _ready(context, opened, batches)
        batch_size, fit = _calibrated(context, settings, given, call)
        context.memory.enforce()
        run = PredictionRun(context, opened, call, given, batch_size, fit, batches, loaded_bytes)
        return run.whole(opened.precision_difference)


def _begun(context: TaskContext, settings: RunSettings) -> InNewProcess:
    """What a process of its own tells: what the graph says of the peak, else which batches show a slope."""
    with configured(context, settings) as opened:
        given, call = _ready(context, opened)
        foretold = _foretold(context, opened, given)
        if foretold is not None:
            at = AtSize(context.params.get("size"), given.sizes.attempt, given.together)
            return InNewProcess(_Kept(at, None, foretold.run.lean_peak_bytes, opened.precision_difference, foretold))
        batch_size, fit = _calibrated(context, settings, given, call)
        at, lean = AtSize(context.params.get("size"), given.sizes.attempt, given.together), None
        if fit is not None:
            at = replace(
                at,
                lean_probes=fit.probes,
                input_row_bytes=fit.input_row_bytes,
                output_row_bytes=fit.output_row_bytes,
                steady_rows=fit.largest_probe,
            )
            lean = fit.predict_run(batch_size, given.batching.rows(given.feed), batches_itself=call.batches_itself)
        probe = at.steady_rows if given.batching.fixed is None and 0 < at.steady_rows < batch_size else None
        return InNewProcess(_Kept(at, probe, lean, opened.precision_difference))


def _small_batch(context: TaskContext, settings: RunSettings, kept: _Kept, rows: int) -> InNewProcess:
    """Runs a small batch in this process, which has run nothing yet."""
    context.entrust(kept)
    with configured(context, settings) as opened:
        context.report("measure", message=f"peak memory at batch {rows}")
        run = measured(context, opened, kept.at, Wanted(0, rows, "probe"), _seed(context))
        return InNewProcess(replace(kept, at=replace(kept.at, runs=(run,)), probe=None))


def _all_rows(context: TaskContext, settings: RunSettings, kept: _Kept) -> Prediction:
    with configured(context, settings) as opened:
        loaded_bytes, batches = context.memory.added_bytes(), Batches(context)
        call = ready(opened, batches.finished)
        samples = int(context.params.get("samples", 0)) or settings.batch_size
        given = input_of(context, opened, kept.at, samples, _seed(context))
        batch_size = _batch_size(settings, given)
        fit = kept.at.fit if kept.foretold is None else kept.foretold.fit
        run = PredictionRun(context, opened, call, given, batch_size, fit, batches, loaded_bytes, kept.foretold)
        return run.whole(kept.precision_difference, kept.lean_bytes)


def _ready(context: TaskContext, opened: Configured, batches: Batches | None = None) -> tuple[ModelInput, Caller]:
    samples = int(context.params.get("samples", 0))
    return opened.ready(context, samples, _seed(context), None if batches is None else batches.finished)


def _calibrated(
    context: TaskContext, settings: RunSettings, given: ModelInput, call: Caller
) -> tuple[int, PeakFit | None]:
    """(rows in a batch, the line through the small ones; None where not even one row fits)."""
    batch_size = _batch_size(settings, given)
    held = sum(array.nbytes for array in given.feed.values())
    take = functools.partial(given.batching.take, given.feed)
    fixed = given.batching.fixed
    try:
        return batch_size, calibrate(context, call, take, batch_size, held_input_bytes=held, fixed=fixed)
    except (BadInput, CannotRun):
        return (
            batch_size,
            None,
        )  # rows that nobody asked for were refused: those that are asked for run without a prediction


def _foretold(context: TaskContext, opened: Configured, given: ModelInput) -> Foretold | None:
    """What the graph says of TensorFlow's own pool; None where there is no such pool, or no graph to read."""
    settings = replace(opened.settings, allocator="pool")
    estimator = Estimator(replace(opened, settings=settings))
    if not estimator.pooled or given.together == 0:
        return None
    context.report("trace", message="reading the graph")
    rows, batch_size = given.batching.rows(given.feed), _batch_size(settings, given)
    sizes = [batch_size] if given.batching.fixed else sizes_below(batch_size)
    calls = estimator.of(sizes, [given.sizes]).estimates
    if not calls:
        return None
    whole = calls[-1:] if rows <= batch_size else estimator.of([batch_size], [given.sizes], rows).estimates
    return Foretold.of(calls, whole[0], sum(array.nbytes for array in given.feed.values()) / rows) if whole else None


def _batch_size(settings: RunSettings, given: ModelInput) -> int:
    return given.batching.fixed or min(settings.batch_size, given.batching.rows(given.feed))


def _seed(context: TaskContext) -> int:
    return int(context.params.get("seed", 0))


TASK = Predict()
