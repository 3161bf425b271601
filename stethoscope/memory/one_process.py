"""A sweep in one process, with lean settings: small batches tell the peaks of larger ones, which are then run. Used in a worker."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stethoscope.architecture.open_sizes import OpenSizes
from stethoscope.codec import plain
from stethoscope.data.dummy import ModelInput
from stethoscope.framework_errors import BatchInterval, explain
from stethoscope.memory.calibrate import calibrate, probe
from stethoscope.memory.call_styles import Caller
from stethoscope.memory.configure import Configured
from stethoscope.memory.fit import PeakFit
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
    narrowed,
    take_times,
)
from stethoscope.memory.run_settings import give_back
from stethoscope.sizes import human_bytes
from stethoscope.task import TaskContext
from stethoscope.types import Feed, Status

DRAWN_ROWS = 8
"""Rows of random input; larger batches repeat them."""
LARGEST_ROWS = 1 << 30
"""A batch nobody runs: memory hardly grows."""
MOST_CHECKS = 4
"""Batches tried above the largest that is said to fit, each above the one that ran after all."""
REACH, NEAR, REACH_S = 4, 2, 20.0
"""By how much a probe goes beyond the last; how far beyond it the largest batch may lie; and how long probing may take."""
SHARE = 0.95
"""Of the bar, for the points; the rest is the check."""


@dataclass(frozen=True)
class Opening:
    """A model that is warm and limited, and what it is fed at each size of its open dimensions."""

    given: ModelInput
    call: Caller
    fed: Sequence[tuple[OpenSizes, Feed]]

    @property
    def size_from(self) -> str:
        """Who says the sizes of the open dimensions; "" where there are none."""
        return (self.fed[0][0].source if self.fed else None) or ""


def opening(context: TaskContext, opened: Configured, sizes: Sequence[int]) -> Opening:
    """How a process that measures many batches begins.

    Raises:
        BadInput: as `Configured.ready`, and for sizes of a model without open dimensions.
        CannotRun: as `Configured.ready`.
    """
    seed = int(context.params.get("seed", 0))
    given, call = opened.ready(context, DRAWN_ROWS, seed)
    give_back()
    context.memory.enforce()
    return Opening(given, call, given.at_sizes(opened.architecture, call.inputs, sizes, DRAWN_ROWS, seed))


@dataclass
class OneProcess:
    """The points so far, and what is known from them."""

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
            self.context.report("sweep", SHARE * len(self.points) / self.total, named(batch_size, size))
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
            self.context.report("sweep", SHARE, named(batch_size, size))
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
        if largest is None or not largest.low or (above and largest.high >= LARGEST_ROWS - 1):
            return False
        batch_size = largest.high + 1 if above else largest.low
        fit = self._now(self.fits[size]).before(batch_size)
        ending = "The process ended: memory ran out."
        before = self.value()
        otherwise = Otherwise(before.largest_batch, before.largest_batches)
        self.running = RunningBatch(batch_size, size, above, last, otherwise)
        self.checks.append(
            self._planned(
                size, batch_size, fit.predict(batch_size), status=Status.OUT_OF_MEMORY, reason=ending, purpose="check"
            )
        )
        self.context.report("check", SHARE, named(batch_size, size))
        self.keep()
        point, usual_bytes = self._run(size, feed, batch_size, fit)
        self.checks[-1], self.running = replace(point, purpose="check"), None
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
