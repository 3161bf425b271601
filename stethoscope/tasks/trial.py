"""Peak memory, time and first outputs of one way of running a model: what settings are compared by."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from stethoscope.data.batching import open_size, resized
from stethoscope.data.dummy import ModelInput, model_input
from stethoscope.errors import OutOfMemory
from stethoscope.framework_errors import explain, named_by
from stethoscope.memory.call_styles import Caller, caller
from stethoscope.memory.configure import Configured, configured
from stethoscope.memory.precision import AS_SAVED
from stethoscope.memory.run_settings import RunSettings, give_back
from stethoscope.task import TaskContext
from stethoscope.types import Feed

COMPARED_ROWS = 8
"""Rows whose outputs are kept for comparing."""
_PASSES, _PASSES_S = 3, 10.0


@dataclass(frozen=True)
class TriedSettings:
    """What one way of running the model costs; what has a default is known once it has run."""

    settings: RunSettings
    rows: int
    open_size: int | None
    """Of open dimensions other than the batch; None where there are none."""
    loaded_bytes: int
    held_bytes: int
    precision_difference: Mapping[str, float | None]
    """By output, the largest difference that another precision makes to the first row; None for values not finite."""
    peak_bytes: int | None = None
    first_peak_bytes: int | None = None
    """Of the first pass, with tracing and compiling,"""
    later_peak_bytes: int | None = None
    """and of later ones."""
    first_pass_s: float | None = None
    pass_s: float | None = None
    time_per_sample_s: float | None = None
    traces: int | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)
    """By output, the file with its first rows."""


class TrialRun:
    """Runs the same rows as any other job with equal "samples" and "seed", in batches of the settings.

    params: {"settings", "samples", "open_size" (None, or the size of open dimensions), "seed", "trusted"}.
    """

    kind = "trial"
    answer = TriedSettings

    def run(self, context: TaskContext) -> TriedSettings:
        """Passes over the rows some times; leaves the outputs of the first rows as one .npy each.

        Raises:
            OutOfMemory: memory ran out while running the rows.
        """
        with configured(context) as opened:
            loaded_bytes = context.memory.added_bytes()
            given, call = _opened(context, opened)
            feed = _sized(context, opened, given)
            rows = given.batching.rows(feed)
            batch_size = given.batching.fixed or min(opened.settings.batch_size, rows)
            gc.collect()
            give_back()
            known = TriedSettings(
                settings=replace(opened.settings, batch_size=batch_size),
                rows=rows,
                open_size=open_size(feed, opened.runner.inputs),
                loaded_bytes=loaded_bytes,
                held_bytes=context.memory.added_bytes(),
                precision_difference=opened.precision_difference,
            )
            context.save_partial(known)
            context.memory.enforce()
            peaks, times = _passes(context, call, given, feed, batch_size)
            return replace(
                known,
                peak_bytes=max(peaks),
                first_peak_bytes=peaks[0],
                later_peak_bytes=max(peaks[1:]),
                first_pass_s=times[0],
                pass_s=min(times[1:]),
                time_per_sample_s=min(times[1:]) / max(1, rows),
                traces=call.traces,
                outputs={
                    name: context.save(f"rows-{place}", array)
                    for place, (name, array) in enumerate(_first_rows(call, given, feed, batch_size).items())
                },
            )


def _opened(context: TaskContext, opened: Configured) -> tuple[ModelInput, Caller]:
    samples, seed = int(context.params.get("samples", 0)), int(context.params.get("seed", 0))
    if opened.settings.precision != AS_SAVED:
        return opened.ready(context, samples, seed)
    call = caller(opened.runner, opened.settings)
    return model_input(context, opened.architecture, call, samples, seed, opened.settings.batch_size), call


def _sized(context: TaskContext, opened: Configured, given: ModelInput) -> Feed:
    """The input with open dimensions of the size asked for: random input is made anew, data is cut."""
    size = context.params.get("open_size")
    if size is None:
        return given.feed
    if given.source != "dummy":
        return resized(given.feed, opened.runner.inputs, int(size))
    if given.dynamic_size is None:
        return given.feed
    seed, rows = int(context.params.get("seed", 0)), given.batching.rows(given.feed)
    ((_, feed),) = given.at_sizes(opened.architecture, opened.runner.inputs, [int(size)], rows, seed)
    return feed


def _first_rows(call: Caller, given: ModelInput, feed: Feed, batch_size: int) -> Feed:
    """Outputs of the first rows, in batches no larger than those measured."""
    batching = given.batching
    if batching.fixed is not None:
        return call(batching.take(feed, batching.fixed))
    parts = [
        call(part) for part in batching.cut(batching.take(feed, min(batching.rows(feed), COMPARED_ROWS)), batch_size)
    ]
    if len(parts) == 1 or any(array.ndim == 0 for array in parts[0].values()):
        return parts[0]
    # Where batches come out in different shapes, the first has to do.
    return {
        name: np.concatenate([part[name] for part in parts])
        if len({part[name].shape[1:] for part in parts}) == 1
        else array
        for name, array in parts[0].items()
    }


def _passes(
    context: TaskContext, call: Caller, given: ModelInput, feed: Feed, batch_size: int
) -> tuple[list[int], list[float]]:
    """(peaks in bytes, seconds) of at least two passes."""
    peaks: list[int] = []
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) <= 1 or (len(times) <= _PASSES and time.perf_counter() - begin < _PASSES_S):
        context.report("measure", len(times) / (_PASSES + 1), f"pass {len(times) + 1}")
        context.memory.reset()
        start = time.perf_counter()
        try:
            _pass(call, given, feed, batch_size)
        except Exception as error:
            cause = explain(error)
            if cause is None:
                raise
            raise OutOfMemory(
                f"Batch of {batch_size:,}: {cause.sentence}", {"oom": named_by(cause, batch_size)}
            ) from error
        times.append(time.perf_counter() - start)
        peaks.append(context.memory.peak_bytes())
        gc.collect()
    return peaks, times


def _pass(call: Caller, given: ModelInput, feed: Feed, batch_size: int) -> None:
    """Runs every row once, keeping all outputs until the end as a prediction does."""
    batching = given.batching
    if call.batches_itself and batching.fixed is None and batching.names:
        call(feed)
        return
    kept = []
    for part in batching.cut(feed, batch_size):
        kept.append(call(part if batching.fixed is None else batching.take(part, batching.fixed)))


TASK = TrialRun()
