"""A sweep in processes like the user's own, one for each batch: what each of them does, and what it hands to the next. Used in a worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

from stethoscope.architecture.open_sizes import OpenSize, OpenSizes
from stethoscope.codec import plain
from stethoscope.framework_errors import ShortageReport
from stethoscope.memory.calibrate import calibrate
from stethoscope.memory.call_styles import Caller
from stethoscope.memory.configure import configured
from stethoscope.memory.estimate import Estimates
from stethoscope.memory.estimator import Estimator
from stethoscope.memory.fit import PeakFit
from stethoscope.memory.foretold import ERROR, expected_tensor
from stethoscope.memory.growth import sizes_below
from stethoscope.memory.one_process import SHARE, opening
from stethoscope.memory.plain import AtSize, PlainSweep
from stethoscope.memory.plain_calls import measured
from stethoscope.memory.plain_run import Purpose, Wanted, ended
from stethoscope.memory.points import (
    Knee,
    LargestBatch,
    LargestBatchAt,
    Otherwise,
    Point,
    RunningBatch,
    Swept,
    knee,
    named,
)
from stethoscope.memory.run_settings import RunSettings
from stethoscope.sizes import human_bytes
from stethoscope.task import Before, InNewProcess, TaskContext
from stethoscope.types import Feed, Status

_SEEKING_S = 12.0
"""How long the graph is read at further batches, to come near the limit."""
_NEAR_LIMIT = 0.05
"""Within this share of the limit is near."""
_FURTHER = 8
"""A batch is asked about at most this many times the largest known."""
ESTIMATE: Final = "estimate"
"""What is under way when all is measured: telling what would have been said without running."""
CHECKS: Mapping[Purpose, str] = {"largest": "largest", "above": "check"}
"""Runs beside the batches asked about, and what the answer calls their purpose."""


@dataclass(frozen=True)
class KeptSweep:
    """What one process of a sweep hands to the next."""

    sweep: PlainSweep
    source: str
    open_sizes: tuple[OpenSize, ...]
    size_from: str
    calibrated_at: tuple[int, ...]
    under_way: Wanted | Literal["estimate"] | None = None
    """What this process does: a batch, or the estimate."""
    estimate: Estimates | None = None
    """What the graph says; None where that is told at the end."""

    def settled(self, before: Before, limit_bytes: int) -> KeptSweep:
        """With the batch under way as one that did not fit, where its process ended of it."""
        if before.status is Status.OK or not isinstance(self.under_way, Wanted):
            return self
        run = ended(self.under_way, before)
        return replace(self, sweep=self.sweep.after(self.under_way, run, limit_bytes), under_way=None)

    def value(self, call: str, limit_bytes: int) -> Swept:
        """The answer so far."""
        sweep = self.sweep
        largest = [(at.size, sweep.largest(at, limit_bytes)) for at in sweep.sizes]
        first, lean = largest[0][1], sweep.sizes[0].lean_largest
        points = tuple(self._point(at, rows, call, limit_bytes) for at in sweep.sizes for rows in sweep.batch_sizes)
        return Swept(
            call=call,
            points=points,
            checks=tuple(
                replace(self._point(at, run.rows, call, limit_bytes), purpose=CHECKS[run.purpose])
                for at in sweep.sizes
                for run in at.runs
                if run.purpose in CHECKS
            ),
            knee=Knee(knee([point for point in points if point.size == sweep.sizes[0].size])),
            largest_batch=None if first is None else LargestBatch(first.low, first.high, limit_bytes),
            largest_batches=tuple(
                LargestBatchAt(found.low, found.high, limit_bytes, size) for size, found in largest if found is not None
            ),
            loading_peak_bytes=max((run.loading_peak_bytes for at in sweep.sizes for run in at.runs), default=None),
            calibrated_at=self.calibrated_at,
            fixed_batch=sweep.fixed,
            input=self.source,
            open_sizes=self.open_sizes,
            lean_largest_batch=None if lean is None else LargestBatch(lean.low, lean.high, limit_bytes),
            estimate=self.estimate,
        )

    def _point(self, at: AtSize, rows: int, call: str, limit_bytes: int) -> Point:
        run, expected = at.run_of(rows), at.expected(rows)
        calibration = run is not None and run.status is Status.OK and rows <= at.steady_rows and not at.estimated
        if run is not None and calibration:
            expected = run.peak_bytes
        point = Point(
            rows,
            call,
            expected,
            size=at.size,
            size_from=self.size_from,
            calibration=calibration,
            lean_peak_bytes=at.lean.get(rows),
            estimated_peak_bytes=at.estimated_peak(rows),
        )
        if run is None:
            reason = self.sweep.refusal(at, rows, limit_bytes)
            if expected is not None and expected > limit_bytes and at.ended_rows is None:
                reason = f"Not started: {human_bytes(expected)} expected, {human_bytes(limit_bytes)} allowed."
            return replace(point, status=Status.REFUSED, reason=reason or "Not run yet.")
        point = replace(point, status=run.status, reason=run.reason)
        if not run.came_through:
            return point
        return point.measured(run.peak_bytes, time_per_sample_s=run.time_s / rows, equal_peaks_bytes=run.peaks)


def begun(
    context: TaskContext, settings: RunSettings, batch_sizes: Sequence[int], sizes: Sequence[int]
) -> InNewProcess:
    """What a process with lean settings tells: what the graph says of each batch, else which batches show a slope."""
    with configured(context, settings) as opened:
        begin = opening(context, opened, sizes)
        given, fixed = begin.given, begin.given.batching.fixed
        rows = tuple(batch_sizes) if fixed is None else (fixed,)
        sweep = PlainSweep(rows, (), bool(context.params.get("check")), fixed)
        kept = KeptSweep(sweep, given.source, given.sizes.dimensions, begin.size_from, ())
        estimator = Estimator(replace(opened, settings=replace(opened.settings, allocator="pool")))
        for place, (told, feed) in enumerate(begin.fed):
            at = AtSize(told.size if sizes else None, told.attempt, given.together)
            if estimator.pooled:
                kept = _traced(context, settings, kept, at, (told, feed), estimator)
            if len(kept.sweep.sizes) == place:
                kept = _calibrated(context, kept, at, begin.call, partial(given.batching.take, feed))
            context.report("measure", (place + 1) / len(begin.fed))
        context.save_partial(kept.value(settings.call, context.budget.memory_bytes))
        return InNewProcess(kept)


def _traced(
    context: TaskContext,
    settings: RunSettings,
    kept: KeptSweep,
    at: AtSize,
    fed: tuple[OpenSizes, Feed],
    estimator: Estimator,
) -> KeptSweep:
    """With one more size, as the graph says it; without where that says nothing. What is known of each batch is told at once."""
    told, feed = fed
    rows, limit, before = kept.sweep.batch_sizes, context.budget.memory_bytes, kept
    asked = list(rows if kept.sweep.fixed else sorted({*rows, *sizes_below(rows[-1])}))
    start = time.monotonic()
    while asked:
        count = asked.pop(0)
        context.report("trace", message=f"reading the graph at batch {count:,}")
        made = estimator.of([count], [told])
        if not made.estimates:
            return before
        (found,) = made.estimates
        context.report("trace", message=f"batch {count:,}: about {human_bytes(found.peak_bytes)} expected")
        at = replace(
            at,
            estimated=tuple(sorted((*at.estimated, found.slim), key=lambda item: item.batch_size)),
            lean={**at.lean, count: found.lean_peak_bytes or 0},
            input_row_bytes=sum(array.nbytes / max(1, len(array)) for array in feed.values() if array.ndim),
            output_row_bytes=found.batch_output_bytes / count,
            steady_rows=1,
        )
        lean = PeakFit(at.lean, roughness=ERROR).largest(limit) if kept.sweep.fixed is None else None
        sweep = replace(before.sweep, sizes=(*before.sweep.sizes, replace(at, lean_largest=lean)))
        known = (kept.estimate or Estimates()).estimates + (made.estimates if count in rows else ())
        kept = replace(kept, sweep=sweep, estimate=Estimates(known))
        context.save_partial(kept.value(settings.call, limit))
        if not asked and kept.sweep.fixed is None and time.monotonic() - start < _SEEKING_S:
            asked = _nearer(at, limit)
    return kept


def _nearer(at: AtSize, limit_bytes: int) -> list[int]:
    """The batch to read the graph at next, so that what it says is known near the limit; none where it is."""
    told = {item.batch_size: item.peak_bytes for item in at.estimated}
    found = None if at.fit is None else at.fit.largest(limit_bytes)
    if found is None or any(abs(peak / limit_bytes - 1) < _NEAR_LIMIT for peak in told.values()):
        return []
    rows = max(1, min((found.low + found.high) // 2, _FURTHER * max(told)))
    return [rows] if rows not in told else []


def _calibrated(
    context: TaskContext, kept: KeptSweep, at: AtSize, call: Caller, take: Callable[[int], Feed]
) -> KeptSweep:
    """With one more size, of which small batches are measured."""
    sweep = kept.sweep
    fit = calibrate(context, call, take, sweep.batch_sizes[-1], fixed=sweep.fixed)
    if fit is not None:
        at = replace(
            at,
            lean={count: fit.predict(count) for count in sweep.batch_sizes},
            lean_probes=fit.probes,
            lean_largest=None if sweep.fixed is not None else fit.largest(context.budget.memory_bytes),
            input_row_bytes=fit.input_row_bytes,
            output_row_bytes=fit.output_row_bytes,
            steady_rows=fit.largest_probe,
        )
        kept = replace(kept, calibrated_at=tuple(sorted({*kept.calibrated_at, *fit.probes})))
    return replace(kept, sweep=replace(sweep, sizes=(*sweep.sizes, at)))


def gone_on(context: TaskContext, settings: RunSettings, kept: KeptSweep, wanted: Wanted) -> InNewProcess:
    """Runs the next batch in this process."""
    limit = context.budget.memory_bytes
    value = kept.value(settings.call, limit)
    at = kept.sweep.sizes[wanted.size_place]
    phase = "check" if wanted.purpose in CHECKS else "sweep"
    context.save_partial(while_running(value, wanted, at, phase))
    done = sum(len(at.runs) for at in kept.sweep.sizes)
    expected = len(kept.sweep.batch_sizes) * len(kept.sweep.sizes) + 2
    context.entrust(replace(kept, under_way=wanted))
    with configured(context, settings) as opened:
        context.report(phase, min(SHARE, done / expected), named(wanted.rows, at.size))
        run = measured(context, opened, at, wanted, int(context.params.get("seed", 0)))
        kept = replace(kept, sweep=kept.sweep.after(wanted, run, limit))
        context.save_partial(kept.value(settings.call, limit))
        return InNewProcess(kept)


def while_running(value: Swept, wanted: Wanted, at: AtSize, phase: str) -> dict[str, Any]:
    """What is known if this process ends at its batch, and its job with it: an answer of the kind of `value`."""
    otherwise = Otherwise(value.largest_batch, value.largest_batches)
    running = RunningBatch(wanted.rows, at.size, above=wanted.purpose == "above", otherwise=otherwise)
    if phase == "check":
        under_way = Point(
            wanted.rows,
            value.call,
            at.expected(wanted.rows),
            size=at.size,
            status=Status.CRASHED,
            purpose=CHECKS[wanted.purpose],
        )
        value = replace(value, checks=(*value.checks, under_way))
    named_tensor = at.largest_tensor(wanted.rows)
    hint = (
        {} if named_tensor is None else {"oom": expected_tensor(named_tensor, ShortageReport(batch_size=wanted.rows))}
    )
    return {**plain(value), "running": running, **hint}
