"""Peak memory and time over batch sizes, predicted before each run and measured by it; what cannot fit is not started."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from stethoscope.architecture.open_sizes import OpenSize, OpenSizes, Sizes, sizes_to_try
from stethoscope.codec import decode, plain
from stethoscope.data.dummy import ModelInput, shapes_in_data
from stethoscope.errors import BadSetting
from stethoscope.framework_errors import BatchInterval, explain
from stethoscope.memory.calibrate import calibrate, probe
from stethoscope.memory.call_styles import Caller
from stethoscope.memory.configure import Configured, configured, settings_of
from stethoscope.memory.fit import PeakFit
from stethoscope.memory.plain import AtSize, PlainSweep, Wanted, ended, measured
from stethoscope.memory.points import (
    Knee,
    LargestBatch,
    LargestBatchAt,
    Otherwise,
    Point,
    RunningBatch,
    knee,
    named,
    narrowed,
    take_times,
)
from stethoscope.memory.run_settings import RunSettings, give_back
from stethoscope.sizes import human_bytes
from stethoscope.task import InNewProcess, TaskContext
from stethoscope.tasks.estimate import HEADROOM_BYTES, Estimates, estimates, joined
from stethoscope.types import Feed, Status

BATCH_SIZES = (1, 8, 32, 64)
LARGEST_BATCH = 1 << 30
DRAWN_ROWS = 8
"""Rows of random input; larger batches repeat them."""
MOST_CHECKS = 4
"""Batches tried above the largest that is said to fit, each above the one that ran after all."""
REACH, NEAR, REACH_S = 4, 2, 20.0
"""By how much a probe goes beyond the last; how far beyond it the largest batch may lie; and how long probing may take."""
_SHARE = 0.95
"""Of the bar, for the points; the rest is the check."""


@dataclass(frozen=True)
class Swept:
    """One call style over batch sizes, and over sizes of the open dimensions where asked."""

    call: str
    points: tuple[Point, ...] = ()
    checks: tuple[Point, ...] = ()
    """Batches just below and just above the largest that is said to fit."""
    knee: Knee = field(default_factory=Knee)
    largest_batch: LargestBatch | None = None
    """At the first size of the open dimensions; None where memory hardly grows, nothing fits, or the file fixes it."""
    largest_batches: tuple[LargestBatchAt, ...] = ()
    loading_peak_bytes: int | None = None
    calibrated_at: tuple[int, ...] = ()
    """Batches run before the first point, to tell the peaks of the others."""
    fixed_batch: int | None = None
    """Rows that the file insists on."""
    input: str = "dummy"
    """"dummy" or the data file's name."""
    open_sizes: tuple[OpenSize, ...] = ()
    """Every open dimension of that input, and who says its size; where sizes are swept, each point has its own."""
    estimate: Estimates | None = None
    """What would have been said without running, unless that was left out."""
    lean_largest_batch: LargestBatch | None = None
    """With the settings that make memory follow the tensors (`run_settings.VARIABLES`); reckoned, not run."""


@dataclass(frozen=True)
class SweepUnderWay(Swept):
    """What is known while a sweep runs."""

    running: RunningBatch | None = None


class Sweep:
    """Runs one call style over batch sizes, and over sizes of the open dimensions where asked.

    params: {"settings", "batch_sizes", "sizes" (of open dimensions; [] for what the model takes first), "check" (run just
    below and just above the largest batch), "estimate" (false: leave it out), "seed", "trusted"}. The memory budget is the job's.
    """

    kind = "sweep"
    answer = Swept

    def run(self, context: TaskContext) -> Swept | InNewProcess:
        """Predicts each batch, runs those that can fit, and says where the largest lies."""
        batch_sizes = _ascending(context.params.get("batch_sizes") or BATCH_SIZES, "Batch sizes")
        sizes = _ascending(context.params.get("sizes") or (), "Sizes")
        settings = settings_of(context)
        if settings.allocator != "pool":
            return self._in_one_process(context, batch_sizes, sizes)
        # One batch is one call, whatever its size: `model.predict` must not cut it.
        settings = replace(settings, batch_size=LARGEST_BATCH)
        if context.before is None:
            return _begun(context, replace(settings, allocator="system"), batch_sizes, sizes)
        return _gone_on(context, settings, decode(_Kept, context.before.state))

    def _in_one_process(self, context: TaskContext, batch_sizes: list[int], sizes: list[int]) -> Swept:
        with configured(context) as opened:
            # Each call is one batch, whatever its size: `model.predict` must not cut it.
            opened.settings = replace(opened.settings, batch_size=LARGEST_BATCH)
            seed = int(context.params.get("seed", 0))
            given, call = opened.ready(context, DRAWN_ROWS, seed)
            give_back()
            context.memory.enforce()
            fixed = given.batching.fixed
            if fixed is not None:
                batch_sizes = [fixed]
            fed = given.at_sizes(opened.architecture, call.inputs, sizes, DRAWN_ROWS, seed)
            feeds = [(told.size, feed) for told, feed in fed]
            total = len(batch_sizes) * len(feeds)
            whence = (fed[0][0].source if fed else None) or ""
            state = _State(context, opened.settings.call, call, given, batch_sizes, total, whence)
            for size, feed in feeds:
                state.over(size, feed)
            for size, feed in feeds if fixed is None else ():
                state.reach(size, feed)
            checked = feeds if context.params.get("check") and fixed is None else []
            for size, feed in checked:
                state.check(size, feed, above=False)
            state.take_times(dict(feeds))  # after what it would disturb, before what may end the process
            for size, feed in checked:
                for _ in range(MOST_CHECKS):
                    if not state.check(size, feed, above=True, last=size == feeds[-1][0]):
                        break
            return _with_estimates(state.value(), opened, context, batch_sizes, [told for told, _ in fed])


def _with_estimates(
    swept: Swept, opened: Configured, context: TaskContext, batch_sizes: Sequence[int], sizes: Sequence[OpenSizes]
) -> Swept:
    """With what would have been said without running, in every point too.

    It is made when all is measured, as tracing leaves memory behind, and left out where little of the limit remains.
    """
    if not context.params.get("estimate", True):
        return swept
    if context.budget.memory_bytes - context.memory.added_bytes() < HEADROOM_BYTES:
        return replace(swept, estimate=Estimates(cannot="Too little of the memory limit is left to trace it."))
    context.save_partial(swept)
    context.report("estimate", 1.0, "what would have been said without running it")
    made = joined(estimates(opened, batch_sizes, [told]) for told in sizes)
    found = {(one.batch_size, one.size): one.peak_bytes for one in made.estimates}
    points = (replace(one, estimated_peak_bytes=found.get((one.batch_size, one.size))) for one in swept.points)
    return replace(swept, points=tuple(points), estimate=made)


@dataclass
class _State:
    context: TaskContext
    style: str
    call: Caller
    given: ModelInput
    batch_sizes: list[int]
    total: int
    size_from: str
    """Who says the sizes of the open dimensions."""
    points: list[Point] = field(default_factory=list)
    checks: list[Point] = field(default_factory=list)
    fits: dict[int | None, PeakFit] = field(default_factory=dict)
    calibrated: set[int] = field(default_factory=set)
    """Batches run before the first point, to tell the peaks of the others."""
    loading_peak_bytes: int | None = None
    running: RunningBatch | None = None

    def over(self, size: int | None, feed: Feed) -> None:
        """All batch sizes at one size of the open dimensions."""
        fixed = self.given.batching.fixed
        fit = calibrate(
            self.context,
            self.call,
            lambda rows: self.given.batching.take(feed, rows),
            self.batch_sizes[-1],
            fixed=fixed,
        )
        self.calibrated.update(fit.probes if fit else ())
        if self.loading_peak_bytes is None:
            self.loading_peak_bytes = fit.loading_peak_bytes if fit else 0
        fit = fit and fit.of(fit.probes, loading_peak_bytes=self.loading_peak_bytes)
        stopped = ""
        for batch_size in self.batch_sizes:
            self.context.report("sweep", _SHARE * len(self.points) / self.total, named(batch_size, size))
            fit = fit and self._now(fit)
            before = fit and fit.before(batch_size)
            self.running = RunningBatch(batch_size, size)
            self.keep()
            point, usual_bytes = self._point(size, feed, batch_size, before, stopped)
            self.points.append(point)
            if point.status is Status.OUT_OF_MEMORY:
                stopped = f"Not started: a batch of {batch_size:,} ran out of memory."
            if fit and usual_bytes and self.given.batching.fixed is None:
                fit = fit.of({**fit.probes, batch_size: usual_bytes})
            if fit:
                self.fits[size] = fit
            self.running = None
            self.keep()

    def reach(self, size: int | None, feed: Feed) -> None:
        """Probes larger batches while the largest that fits lies far beyond all that ran: a line that long is a guess."""
        start = time.perf_counter()
        while size in self.fits and time.perf_counter() - start < REACH_S:
            fit = self._now(self.fits[size])
            largest = fit.largest(self.context.budget.memory_bytes)
            batch_size = min(largest.low * 3 // 4, REACH * fit.largest_probe) if largest else 0
            if not largest or largest.high <= NEAR * fit.largest_probe or batch_size <= fit.largest_probe:
                return
            self.context.report("sweep", _SHARE, named(batch_size, size))
            point, usual_bytes = self._run(size, feed, batch_size, fit)
            if point.status is not Status.OK or not usual_bytes:
                return
            self.fits[size] = fit.of({**fit.probes, batch_size: usual_bytes})
            if (point.time_per_sample_s or 0.0) * batch_size * REACH > REACH_S:
                return

    def check(self, size: int | None, feed: Feed, *, above: bool, last: bool = False) -> bool:
        """Runs just below, or just above, the largest batch that is said to fit; returns whether it ran.

        What runs out of memory may end the process: the answer then is the one kept before, which expects just that; "running"
        has what is to be said if it ended for another reason.
        """
        largest = self._largest(size) if size in self.fits else None
        if largest is None or not largest.low or (above and largest.high >= LARGEST_BATCH - 1):
            return False
        batch_size = largest.high + 1 if above else largest.low
        fit = self._now(self.fits[size]).before(batch_size)
        ending = "The process ended: memory ran out."
        before = self.value()
        otherwise = Otherwise(before.largest_batch, before.largest_batches)
        self.running = RunningBatch(batch_size, size, above, last, otherwise)
        self.checks.append(
            self._planned(size, batch_size, fit.predict(batch_size), status=Status.OUT_OF_MEMORY, reason=ending)
        )
        self.context.report("check", _SHARE, named(batch_size, size))
        self.keep()
        point, usual_bytes = self._run(size, feed, batch_size, fit)
        self.checks[-1], self.running = point, None
        if point.status is Status.OK and usual_bytes:
            self.fits[size] = fit.of({**fit.probes, batch_size: usual_bytes})
        self.keep()
        return point.status is Status.OK

    def take_times(self, feeds: Mapping[int | None, Feed]) -> None:
        """Times each batch that ran."""

        def rows_of(point: Point) -> Feed:
            return self.given.batching.take(feeds[point.size], point.batch_size)

        for place, point in take_times(self.context, self.call, self.points, rows_of):
            self.points[place] = point
            self.keep()

    def _now(self, fit: PeakFit) -> PeakFit:
        """As it is with what earlier batches left in the process; the limit is set anew, for memory given back."""
        give_back()
        self.context.memory.enforce()
        return fit.holding(self.context.memory.added_bytes())

    def value(self) -> Swept:
        """The answer so far."""
        budget = self.context.budget.memory_bytes
        largest = [(size, self._largest(size)) for size in self.fits]
        first = next((interval for _, interval in largest), None)
        return Swept(
            call=self.style,
            points=tuple(self.points),
            checks=tuple(self.checks),
            knee=Knee(knee([p for p in self.points if p.size == next(iter(self.fits), None)])),
            largest_batch=None if first is None else LargestBatch(first.low, first.high, budget),
            largest_batches=tuple(
                LargestBatchAt(interval.low, interval.high, budget, size)
                for size, interval in largest
                if interval is not None
            ),
            loading_peak_bytes=self.loading_peak_bytes,
            calibrated_at=tuple(sorted(self.calibrated)),
            fixed_batch=self.given.batching.fixed,
            input=self.given.source,
            open_sizes=self.given.sizes.dimensions,
        )

    def keep(self) -> None:
        """Keeps what is known, and the batch under way."""
        self.context.save_partial(plain(self.value()) | ({} if self.running is None else {"running": self.running}))

    def _largest(self, size: int | None) -> BatchInterval | None:
        if self.given.batching.fixed is not None:
            return None
        interval = self.fits[size].largest(self.context.budget.memory_bytes)
        return narrowed(interval, [p for p in (*self.points, *self.checks) if p.size == size])

    def _point(
        self, size: int | None, feed: Feed, batch_size: int, fit: PeakFit | None, stopped: str
    ) -> tuple[Point, int | None]:
        limit = self.context.budget.memory_bytes
        expected = None if fit is None else fit.predict(batch_size)
        reason = stopped
        if fit is None:
            reason = stopped or "Not started: not even one row fits."
        elif not stopped and fit.fits(batch_size, limit) is False:
            needed = max(fit.predict(batch_size), fit.loading_peak_bytes)
            reason = f"Not started: {human_bytes(needed)} expected, {human_bytes(limit)} allowed."
        if fit is None or reason:
            return self._planned(size, batch_size, expected, status=Status.REFUSED, reason=reason), None
        return self._run(size, feed, batch_size, fit)

    def _planned(self, size: int | None, batch_size: int, expected_bytes: int | None, **more: Any) -> Point:
        """A batch before it is run."""
        return Point(batch_size, self.style, expected_bytes, size=size, size_from=self.size_from, **more)

    def _run(self, size: int | None, feed: Feed, batch_size: int, fit: PeakFit) -> tuple[Point, int | None]:
        """The batch, with the highest peak of its calls; and the mean, for the line."""
        calibration = batch_size in fit.probes
        point = self._planned(size, batch_size, fit.predict(batch_size), calibration=calibration)
        try:
            rows = self.given.batching.take(feed, batch_size)
            found = probe(self.context, self.call, rows, batch_size)
        except Exception as error:
            cause = explain(error)
            if cause is None:
                raise
            return replace(point, status=Status.OUT_OF_MEMORY, reason=cause.sentence), None
        peak = found.peak_of(fit.tracing_bytes)
        limit = self.context.budget.memory_bytes
        if peak > limit:  # the limit that ends a process leaves it some room
            reason = f"It took {human_bytes(peak)}, {human_bytes(limit)} allowed."
            return point.measured(peak, status=Status.OUT_OF_MEMORY, reason=reason), None
        ran = point.measured(peak, time_per_sample_s=found.time_s / batch_size)
        return ran, max(0, peak - found.spread_bytes)


def _ascending(values: Any, what: str) -> list[int]:
    if not all(isinstance(value, int) and value > 0 for value in values):
        raise BadSetting(f"{what}: expected whole numbers above 0, got {list(values)}.")
    return sorted(set(values))


@dataclass(frozen=True)
class _Kept:
    """What one process of a sweep hands to the next."""

    sweep: PlainSweep
    source: str
    open_sizes: tuple[OpenSize, ...]
    size_from: str
    calibrated_at: tuple[int, ...]
    under_way: Wanted | None = None
    """The batch that this process runs."""
    estimating: bool = False

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
                self._point(at, run.rows, call, limit_bytes)
                for at in sweep.sizes
                for run in at.runs
                if run.purpose in ("largest", "above")
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
        if run.status is not Status.OK:
            return replace(point, status=run.status, reason=run.reason)
        if run.peak_bytes > limit_bytes:
            reason = f"It took {human_bytes(run.peak_bytes)}, {human_bytes(limit_bytes)} allowed."
            return point.measured(run.peak_bytes, status=Status.OUT_OF_MEMORY, reason=reason)
        return point.measured(run.peak_bytes, time_per_sample_s=run.time_s / rows)


def _begun(
    context: TaskContext, settings: RunSettings, batch_sizes: Sequence[int], sizes: Sequence[int]
) -> InNewProcess:
    """What a process with lean settings tells: which batches show a slope, and what the settings would save."""
    with configured(context, settings) as opened:
        seed = int(context.params.get("seed", 0))
        given, call = opened.ready(context, DRAWN_ROWS, seed)
        give_back()
        context.memory.enforce()
        fixed = given.batching.fixed
        rows = tuple(batch_sizes) if fixed is None else (fixed,)
        fed = given.at_sizes(opened.architecture, call.inputs, sizes, DRAWN_ROWS, seed)
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
        size_from = (fed[0][0].source if fed else None) or ""
        kept = _Kept(sweep, given.source, given.sizes.dimensions, size_from, tuple(sorted(probed)))
        context.save_partial(kept.value(settings.call, context.budget.memory_bytes))
        return InNewProcess(kept)


def _gone_on(context: TaskContext, settings: RunSettings, kept: _Kept) -> Swept | InNewProcess:
    """Runs the next batch in this process, or ends the sweep."""
    limit, before = context.budget.memory_bytes, context.before
    assert before is not None
    if before.status is not Status.OK and kept.under_way is not None:
        run = ended(kept.under_way, before)
        kept = replace(kept, sweep=kept.sweep.after(kept.under_way, run), under_way=None)
    value = kept.value(settings.call, limit)
    wanted = kept.sweep.wanted(limit)
    if wanted is None:
        if not context.params.get("estimate", True) or kept.estimating:
            return value
        return _estimated(context, settings, kept, value)
    at = kept.sweep.sizes[wanted.size_place]
    phase = "check" if wanted.purpose in ("largest", "above") else "sweep"
    context.save_partial(_while_running(value, wanted, at, phase))
    done = sum(len(at.runs) for at in kept.sweep.sizes)
    expected = len(kept.sweep.batch_sizes) * len(kept.sweep.sizes) + 2
    context.entrust(replace(kept, under_way=wanted))
    with configured(context, settings) as opened:
        context.report(phase, min(_SHARE, done / expected), named(wanted.rows, at.size))
        run = measured(context, opened, at, wanted, int(context.params.get("seed", 0)))
        kept = replace(kept, sweep=kept.sweep.after(wanted, run))
        context.save_partial(kept.value(settings.call, limit))
        return InNewProcess(kept)


def _while_running(value: Swept, wanted: Wanted, at: AtSize, phase: str) -> dict[str, Any]:
    """What is known if this process ends at its batch, and its job with it."""
    otherwise = Otherwise(value.largest_batch, value.largest_batches)
    running = RunningBatch(wanted.rows, at.size, above=wanted.purpose == "above", otherwise=otherwise)
    if phase == "check":
        under_way = Point(wanted.rows, value.call, at.expected(wanted.rows), size=at.size, status=Status.CRASHED)
        value = replace(value, checks=(*value.checks, under_way))
    return {**plain(value), "running": running}


def _estimated(context: TaskContext, settings: RunSettings, kept: _Kept, value: Swept) -> Swept:
    """With what would have been said without running, which leaves memory behind and may need much."""
    context.save_partial(value)
    context.entrust(replace(kept, estimating=True))
    with configured(context, settings) as opened:
        inputs = opened.runner.inputs
        told = [
            next(
                made
                for made in sizes_to_try(inputs, Sizes.every(at.size), shapes_in_data(context, inputs))
                if made.attempt == at.attempt or not made.are_assumed
            )
            for at in kept.sweep.sizes
        ]
        return _with_estimates(value, opened, context, kept.sweep.batch_sizes, told)


TASK = Sweep()
