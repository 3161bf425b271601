"""Peak memory in a process like the user's own: started for one call, TensorFlow's own allocator, nothing run before it.

TensorFlow's pool keeps what it has and grows by doubling, so what a call needs depends on the calls before it: no process
can measure two. Each batch is therefore a process of its own; what the next one shall be is planned from those that ran.
Where a limit lies between two batches, only one that ran says "this fits".

A process with lean settings (`run_settings.VARIABLES`) comes first. It measures many small batches cheaply, so it says
which are large enough to tell a slope, how long they take, and what the settings would save.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from stethoscope.framework_errors import BatchInterval
from stethoscope.memory.estimate import Alive, Estimate
from stethoscope.memory.fit import PeakFit
from stethoscope.memory.foretold import ERROR
from stethoscope.memory.plain_run import PlainRun, Purpose, Wanted
from stethoscope.sizes import human_bytes
from stethoscope.types import Status

SPREAD = 0.02
"""What equal runs differ by: a batch that came nearer to the limit than this is not said to fit."""
ROUGHNESS = 0.2
"""By what share a peak may lie beside the line through others: a pool grows in steps, and its pieces fit better or worse.
Measured: 28 % too low and 18 % too high for a BERT of 110 M parameters, at most 13 % for four smaller networks."""
FEW_ROUGHNESS = 0.3
"""The same through one run alone."""
TOLD_ROUGHNESS = 0.15
"""The same of estimates that nothing was held against yet; see `foretold.ERROR` for those that a run corrected."""
MOST_TRIES, LONGEST_S, ALL_S = 5, 45.0, 75.0
"""Batches tried as the largest; how long one of them, and all of them, may take."""
REACH = 4
"""By how much a batch may exceed the largest that ran: a line that long is a guess."""
MOST_RUNS, QUICK_S, SMALL_BYTES = 3, 5.0, 100 << 20
"""Equal runs of one batch that surprised, where a call is quick and what it takes is worth it: how operations that run side
by side fall together makes some networks take a third more in one process than in the next."""
SURPRISE, AGREE = 0.08, 0.05
"""By what share a run is off what the graph says for it to surprise; within which two runs agree."""
NEAR = 1.25
"""Within this factor of the largest that ran, the upper end of the interval is near enough."""


@dataclass(frozen=True)
class AtSize:
    """All runs at one size of the open dimensions."""

    size: int | None
    """Asked for, the same for each of them; None for what the data has, or what the model took first."""
    attempt: int = 0
    """Which assumption the model took."""
    together: int | None = None
    """Rows that it takes only together, as `Batching.together` has them; None where any number will do."""
    lean: Mapping[int, int] = field(default_factory=dict)
    """With lean settings: the peaks expected of the batches asked about, in bytes."""
    lean_probes: Mapping[int, int] = field(default_factory=dict)
    """With lean settings: the peaks of the small batches that were measured, in bytes."""
    lean_largest: BatchInterval | None = None
    input_row_bytes: float = 0.0
    output_row_bytes: float = 0.0
    steady_rows: int = 0
    """The batch from which on every row needs the same; 0 where not even one row fits."""
    estimated: tuple[Estimate, ...] = ()
    """What the graph says of some batches, ascending; empty where it says nothing, and small batches are measured instead."""
    runs: tuple[PlainRun, ...] = ()

    def run_of(self, rows: int) -> PlainRun | None:
        """The run of so many rows; None where there is none."""
        return next((run for run in self.runs if run.rows == rows), None)

    @cached_property
    def fit(self) -> PeakFit | None:
        """The line through all whose peak is known, and through what the graph says; through one alone, as steep as with lean settings."""
        ran = [run for run in self.runs if run.came_through]
        if self.estimated:
            return self._estimated_fit(ran)
        if not ran:
            return None
        probes = {run.rows: run.call_peak_bytes for run in ran}
        if len(ran) == 1 and self.lean_probes:
            more = ran[0].call_peak_bytes - PeakFit(self.lean_probes).predict(ran[0].rows)
            probes = {rows: peak + more for rows, peak in self.lean_probes.items()} | probes
        return PeakFit(
            probes,
            input_row_bytes=self.input_row_bytes,
            output_row_bytes=self.output_row_bytes,
            loading_peak_bytes=max(run.loading_peak_bytes for run in ran),
            roughness=ROUGHNESS if len(ran) > 1 else FEW_ROUGHNESS,
        )

    def _estimated_fit(self, ran: Sequence[PlainRun]) -> PeakFit:
        """What the graph says, moved by what it was off at the largest batch that ran."""
        told = {item.batch_size: item.call_peak_bytes for item in self.estimated}
        loading = max((run.loading_peak_bytes for run in ran), default=self.estimated[-1].loading_peak_bytes)
        more = 0
        if ran:
            last = max(ran, key=lambda run: run.rows)
            more = last.call_peak_bytes - told.get(last.rows, PeakFit(told).predict(last.rows))
        probes = {rows: peak + more for rows, peak in told.items()} | {run.rows: run.call_peak_bytes for run in ran}
        return PeakFit(
            probes,
            input_row_bytes=self.input_row_bytes,
            output_row_bytes=self.output_row_bytes,
            loading_peak_bytes=loading,
            roughness=ERROR if ran else TOLD_ROUGHNESS,
        )

    def estimated_peak(self, rows: int) -> int | None:
        """What the graph says of a batch, in bytes; None where it was not asked."""
        return next((item.peak_bytes for item in self.estimated if item.batch_size == rows), None)

    def surprises(self, run: PlainRun) -> bool:
        """Whether a batch is worth another equal process: it is far from what the graph says, and its processes from each other."""
        told = next((item.call_peak_bytes for item in self.estimated if item.batch_size == run.rows), 0)
        if not told or run.status is not Status.OK or run.time_s > QUICK_S or run.call_peak_bytes < SMALL_BYTES:
            return False
        if len(run.peaks) > 1:
            return len(run.peaks) < MOST_RUNS and run.peaks[-1] > run.peaks[0] * (1 + AGREE)
        return abs(run.call_peak_bytes / told - 1) > SURPRISE

    def largest_tensor(self, rows: int) -> Alive | None:
        """The largest tensor alive at the peak of a batch, from the estimate nearest to it; None where none is known."""
        nearest = min(self.estimated, key=lambda item: abs(item.batch_size - rows), default=None)
        if nearest is None or not nearest.alive:
            return None
        tensor = nearest.alive[0]
        if not tensor.shape or tensor.shape[0] % nearest.batch_size:
            return tensor
        first = tensor.shape[0] // nearest.batch_size * rows
        size = tensor.size_bytes // nearest.batch_size * rows
        return replace(tensor, shape=(first, *tensor.shape[1:]), size_bytes=size)

    def expected(self, rows: int) -> int | None:
        """The peak expected of a batch from those that ran before it; None where none did."""
        place = next((place for place, run in enumerate(self.runs) if run.rows == rows), len(self.runs))
        known = replace(self, runs=self.runs[:place]).fit
        return None if known is None else max(known.between(rows), known.loading_peak_bytes)

    def guess(self, limit_bytes: int) -> int:
        """The batch that comes nearest to a limit with room to spare; 0 where not even one row does."""
        if self.fit is None:
            return 0
        low, high = 0, REACH * max(self.fit.probes)
        while high > low:
            middle = (low + high + 1) // 2
            fits = max(self.fit.between(middle), self.fit.loading_peak_bytes) * (1 + 2 * SPREAD) <= limit_bytes
            low, high = (middle, high) if fits else (low, middle - 1)
        return low

    @property
    def ran_rows(self) -> int:
        """The largest batch that ran; 0 where none did."""
        return max((run.rows for run in self.runs if run.status is Status.OK), default=0)

    @property
    def ended_rows(self) -> int | None:
        """The smallest batch that did not fit; None where all did."""
        return min((run.rows for run in self.runs if run.status is not Status.OK), default=None)


@dataclass(frozen=True)
class PlainSweep:
    """What is known of one call style over batch sizes, between two processes."""

    batch_sizes: tuple[int, ...]
    sizes: tuple[AtSize, ...]
    check: bool
    fixed: int | None = None
    """Rows that the file insists on."""
    calls: int = 1
    """How many batches each process runs."""
    seek: bool = True
    """Whether batches are run to find the largest that fits."""

    def wanted(self, limit_bytes: int) -> Wanted | None:
        """The next run; None when all is known that can be."""
        for asks in (self._point, self._again, self._largest, self._above):
            for place, at in enumerate(self.sizes):
                found = asks(at, limit_bytes) if at.steady_rows else None
                if found is not None:
                    return Wanted(place, *found)
        return None

    def after(self, wanted: Wanted, run: PlainRun, limit_bytes: int) -> PlainSweep:
        """With one more run, or one more equal to another.

        One that came through with more than the limit, as what ends a process leaves it some room, did not fit.
        """
        if run.status is Status.OK and run.peak_bytes > limit_bytes:
            reason = f"It took {human_bytes(run.peak_bytes)}, {human_bytes(limit_bytes)} allowed."
            run = replace(run, status=Status.OUT_OF_MEMORY, reason=reason)
        sizes = list(self.sizes)
        at = sizes[wanted.size_place]
        if wanted.purpose == "again":
            runs = tuple(one.again(run) if one.rows == run.rows else one for one in at.runs)
        else:
            runs = (*at.runs, run)
        sizes[wanted.size_place] = replace(at, runs=runs)
        return replace(self, sizes=tuple(sizes))

    def refusal(self, at: AtSize, rows: int, limit_bytes: int) -> str:
        """Why a batch is not to be started; "" where it is."""
        if not at.steady_rows:
            return "Not started: not even one row fits."
        if at.ended_rows is not None and at.ended_rows <= rows:
            return f"Not started: a batch of {at.ended_rows:,} ran out of memory."
        fit = at.fit
        if fit is not None and fit.fits(rows, limit_bytes) is False:
            return "Not started."
        return ""

    def largest(self, at: AtSize, limit_bytes: int) -> BatchInterval | None:
        """Where the largest batch lies: its lower end has run; None where memory hardly grows, or the file fixes it."""
        expected = at.fit and at.fit.largest(limit_bytes)
        if self.fixed is not None or (expected is None and at.ended_rows is None):
            return None
        safe = max(
            (r.rows for r in at.runs if r.status is Status.OK and r.most_bytes * (1 + SPREAD) <= limit_bytes), default=0
        )
        high = max(at.ran_rows, expected.high) if expected else None
        if at.ended_rows is not None:
            high = at.ended_rows - 1 if high is None else min(high, at.ended_rows - 1)
        return BatchInterval(safe, max(safe, high or 0))

    def _point(self, at: AtSize, limit_bytes: int) -> tuple[int, Purpose] | None:
        for rows in sorted({*(self._probes(at) if self.seek else ()), *self.batch_sizes}):
            if at.run_of(rows) is None and not self.refusal(at, rows, limit_bytes):
                return rows, "point" if rows in self.batch_sizes else "probe"
        return None

    def _again(self, at: AtSize, limit_bytes: int) -> tuple[int, Purpose] | None:
        return next(((run.rows, "again") for run in at.runs if run.purpose == "point" and at.surprises(run)), None)

    def _probes(self, at: AtSize) -> Iterator[int]:
        """Batches that show a slope, where none of those asked about is about as large and the graph says nothing."""
        if at.estimated:
            return
        steady = at.steady_rows
        if self.fixed is None and not any(steady // 4 <= rows < steady for rows in self.batch_sizes):
            yield max(1, steady // 2)
        if self.fixed is None and not any(steady <= rows <= 2 * steady for rows in self.batch_sizes):
            yield steady

    def _largest(self, at: AtSize, limit_bytes: int) -> tuple[int, Purpose] | None:
        if not self.seek:
            return None
        tries = [run for run in at.runs if run.purpose == "largest"]
        interval, fit = self.largest(at, limit_bytes), at.fit
        if interval is None or fit is None or len(tries) >= MOST_TRIES or interval.high <= NEAR * interval.low:
            return None
        expected = fit.largest(limit_bytes)
        reach = expected.low if expected else interval.high
        rows = at.guess(limit_bytes) if at.estimated else min(reach, REACH * max(1, at.ran_rows))
        if at.ended_rows is not None or rows <= interval.low:  # the line hoped for too much, or for no more than ran
            rows = (interval.low + interval.high + 1) // 2
        left_s = min(LONGEST_S, ALL_S - self.calls * sum(run.time_s for run in tries))
        rows = min(rows, int(left_s / max(1e-9, self._row_s(at))))
        return (rows, "largest") if rows > interval.low and at.run_of(rows) is None else None

    def _above(self, at: AtSize, limit_bytes: int) -> tuple[int, Purpose] | None:
        interval = self.largest(at, limit_bytes) if self.check else None
        if interval is None or at.run_of(interval.high + 1) or any(run.purpose == "above" for run in at.runs):
            return None
        return (interval.high + 1, "above") if (interval.high + 1) * self._row_s(at) < LONGEST_S else None

    def _row_s(self, at: AtSize) -> float:
        run = at.run_of(at.ran_rows)
        return self.calls * run.time_s / run.rows if run else 0.0
