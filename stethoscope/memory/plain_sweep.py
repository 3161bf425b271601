"""A sweep in processes like the user's own, one for each batch: what each of them does, and what it hands to the next. Used in a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

from stethoscope.architecture.open_sizes import OpenSize
from stethoscope.codec import plain
from stethoscope.memory.calibrate import calibrate
from stethoscope.memory.configure import configured
from stethoscope.memory.one_process import SHARE, opening
from stethoscope.memory.plain import AtSize, PlainSweep, Purpose, Wanted, ended, measured
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
from stethoscope.types import Status

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
        )

    def _point(self, at: AtSize, rows: int, call: str, limit_bytes: int) -> Point:
        run, expected = at.run_of(rows), at.expected(rows)
        calibration = run is not None and run.status is Status.OK and rows <= at.steady_rows
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
        )
        if run is None:
            reason = self.sweep.refusal(at, rows, limit_bytes)
            if expected is not None and expected > limit_bytes and at.ended_rows is None:
                reason = f"Not started: {human_bytes(expected)} expected, {human_bytes(limit_bytes)} allowed."
            return replace(point, status=Status.REFUSED, reason=reason or "Not run yet.")
        point = replace(point, status=run.status, reason=run.reason)
        return point.measured(run.peak_bytes, time_per_sample_s=run.time_s / rows) if run.came_through else point


def begun(
    context: TaskContext, settings: RunSettings, batch_sizes: Sequence[int], sizes: Sequence[int]
) -> InNewProcess:
    """What a process with lean settings tells: which batches show a slope, and what the settings would save."""
    with configured(context, settings) as opened:
        begin = opening(context, opened, sizes)
        given, call, fed = begin.given, begin.call, begin.fed
        fixed = given.batching.fixed
        rows = tuple(batch_sizes) if fixed is None else (fixed,)
        probed: set[int] = set()
        found: list[AtSize] = []
        for place, (told, feed) in enumerate(fed):
            fit = calibrate(context, call, partial(given.batching.take, feed), rows[-1], fixed=fixed)
            at = AtSize(told.size if sizes else None, told.attempt)
            if fit is not None:
                probed.update(fit.probes)
                at = replace(
                    at,
                    lean={count: fit.predict(count) for count in rows},
                    lean_probes=fit.probes,
                    lean_largest=None if fixed is not None else fit.largest(context.budget.memory_bytes),
                    input_row_bytes=fit.input_row_bytes,
                    output_row_bytes=fit.output_row_bytes,
                    steady_rows=fit.largest_probe,
                )
            found.append(at)
            context.report("measure", (place + 1) / len(fed))
        sweep = PlainSweep(rows, tuple(found), bool(context.params.get("check")), fixed)
        kept = KeptSweep(sweep, given.source, given.sizes.dimensions, begin.size_from, tuple(sorted(probed)))
        context.save_partial(kept.value(settings.call, context.budget.memory_bytes))
        return InNewProcess(kept)


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
    return {**plain(value), "running": running}
