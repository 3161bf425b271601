"""What a sweep says: its points, the knee of the time per sample, and the largest batch.

Times of batches whose peaks are known, taken afterwards: measuring memory slows what it measures.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stethoscope.architecture.open_sizes import OpenSize
from stethoscope.framework_errors import BatchInterval, explain
from stethoscope.memory.call_styles import Caller
from stethoscope.memory.estimate import Estimates
from stethoscope.memory.run_settings import keeping_freed
from stethoscope.task import TaskContext
from stethoscope.types import Feed, Status

KNEE_FRACTION = 0.10
"""A larger batch that saves less than this share of the time per sample is not worth its memory."""


@dataclass(frozen=True)
class Point:
    """One batch size, at one size of the open dimensions where they are swept."""

    batch_size: int
    call: str
    predicted_peak_bytes: int | None
    measured_peak_bytes: int | None = None
    time_per_sample_s: float | None = None
    status: Status = Status.OK
    reason: str = ""
    size: int | None = None
    """Size of the open dimensions (sequence length, image size); None where there are none."""
    calibration: bool = False
    """Whether the prediction is itself a measurement: one of the two smallest batches, with which calibrating starts."""
    error_fraction: float | None = None
    """How far the prediction was off, of what was measured; None where nothing was."""
    estimated_peak_bytes: int | None = None
    """What would have been said without running it; None where it could not be."""
    lean_peak_bytes: int | None = None
    """With the settings that make memory follow the tensors (`run_settings.VARIABLES`); None where not asked."""
    size_from: str = ""
    """Who says that size: "given", "data", "file" or "assumed"; "" where there is none or nobody told."""
    equal_peaks_bytes: tuple[int, ...] = ()
    """Of every equal process, ascending, where the batch was run more than once: `measured_peak_bytes` is their median."""
    purpose: str = ""
    """Why it was run though nobody asked about it: "largest" looks for the largest batch, "check" holds what was said of it
    against what happens just below and just above; "" for a batch asked about."""

    def measured(self, peak_bytes: int, **changes: Any) -> Point:
        """With its peak, and how far the prediction was off."""
        predicted = self.predicted_peak_bytes
        error = predicted / peak_bytes - 1 if predicted is not None and peak_bytes else None
        return replace(self, measured_peak_bytes=peak_bytes, error_fraction=error, **changes)


@dataclass(frozen=True)
class LargestBatch(BatchInterval):
    """Where the largest batch that fits a budget lies."""

    budget_bytes: int


@dataclass(frozen=True)
class LargestBatchAt(LargestBatch):
    """At one size of the open dimensions."""

    size: int | None
    """None where there are none."""


@dataclass(frozen=True)
class Knee:
    """The batch beyond which little time is saved."""

    batch_size: int | None = None
    """None without two batches that were timed."""


@dataclass(frozen=True)
class Otherwise:
    """The largest batches as they are said to be if a check ended for another reason than its limit."""

    largest_batch: LargestBatch | None = None
    largest_batches: tuple[LargestBatchAt, ...] = ()


@dataclass(frozen=True)
class RunningBatch:
    """The batch under way: if the process ends, that is where."""

    batch_size: int
    size: int | None = None
    above: bool = False
    """Whether it is a check above the largest batch that is said to fit,"""
    last: bool = False
    """the last of them."""
    otherwise: Otherwise | None = None


@dataclass(frozen=True)
class Swept:
    """One call style over batch sizes, and over sizes of the open dimensions where asked."""

    call: str
    points: tuple[Point, ...] = ()
    checks: tuple[Point, ...] = ()
    """Batches run beside those asked about, to find the largest or to check it: each says for what."""
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


def named(batch_size: int, size: int | None) -> str:
    """A point for people: "batch 8 at size 128"."""
    return f"batch {batch_size:,}" + ("" if size is None else f" at size {size:,}")


def knee(points: Sequence[Point]) -> int | None:
    """The smallest batch whose time per sample is within `KNEE_FRACTION` of the best; None without two measured points."""
    timed = sorted((p.batch_size, p.time_per_sample_s) for p in points if p.time_per_sample_s is not None)
    if len(timed) < 2:
        return None
    best = min(time_s for _, time_s in timed)
    return next(size for size, time_s in timed if time_s <= best * (1 + KNEE_FRACTION))


def narrowed(interval: BatchInterval | None, points: Sequence[Point]) -> BatchInterval | None:
    """The interval of the largest batch, held against what ran and what did not."""
    ran = max((p.batch_size for p in points if p.status is Status.OK and p.measured_peak_bytes), default=0)
    ended = min((p.batch_size for p in points if p.status is Status.OUT_OF_MEMORY), default=None)
    if interval is None:
        return None if ended is None else BatchInterval(ran, max(ran, ended - 1))
    low, high = max(interval.low, ran), max(interval.high, ran)
    if ended is not None:
        low, high = min(low, ended - 1), min(high, ended - 1)
    return BatchInterval(low, high)


TIMED, TIMED_S, SLOWEST_S = 5, 0.5, 10.0
"""A batch is timed this often after its first call, as long as it all takes no longer; not at all if that was slower."""
KEEPING_FRACTION = 0.25
"""Of the limit, what the largest batch may need for times to be taken with freed memory kept."""


def take_times(
    context: TaskContext, call: Caller, points: Sequence[Point], rows_of: Callable[[Point], Feed]
) -> Iterator[tuple[int, Point]]:
    """Yields (place, the point with its time) for each point that ran.

    The process keeps what it freed, as an ordinary one does; what it keeps is no peak. Where some batch came near the
    limit, what is kept might be what is missing: there freed memory is given back.
    """
    peaks = [point.measured_peak_bytes or 0 for point in points]
    keeping = max(peaks, default=0) < KEEPING_FRACTION * context.budget.memory_bytes
    context.memory.enforce()
    with keeping_freed() if keeping else contextlib.nullcontext():
        for place, point in enumerate(points):
            if point.time_per_sample_s is None or point.status is not Status.OK:
                continue
            context.report("time", place / len(points), named(point.batch_size, point.size))
            try:
                time_s = best_time(call, rows_of(point), point.time_per_sample_s * point.batch_size)
            except Exception as error:
                if explain(error) is None:
                    raise
                continue  # it ran within the limit once: its time is the one it had then
            yield place, replace(point, time_per_sample_s=time_s / point.batch_size)
    context.memory.enforce()


def best_time(call: Callable[[Feed], object], rows: Feed, known_s: float) -> float:
    """Seconds of one call, the best of a few; of a very slow one what is known.

    Args:
        call: what is timed.
        rows: the batch it gets.
        known_s: what the call before took, in which it may have been traced.
    """
    times = [known_s]
    while known_s < SLOWEST_S and (len(times) == 1 or (len(times) < TIMED and sum(times[1:]) < TIMED_S)):
        start = time.perf_counter()
        call(rows)
        times.append(time.perf_counter() - start)
    return min(times)
