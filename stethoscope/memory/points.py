"""What a sweep says: its points, the knee of the time per sample, and the largest batch. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from stethoscope.shortage_report import BatchInterval
from stethoscope.types import Status

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
