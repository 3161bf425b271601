"""One batch in a process like the user's own: why it is run, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from stethoscope.task import Before
from stethoscope.types import Status

Purpose = Literal["probe", "point", "again", "largest", "above"]


@dataclass(frozen=True)
class Wanted:
    """The run that comes next."""

    size_place: int
    rows: int
    purpose: Purpose


@dataclass(frozen=True)
class PlainRun:
    """One batch in a process of its own."""

    rows: int
    purpose: Purpose
    call_peak_bytes: int = 0
    """The most that the process had added, to what it started with, while the model was called."""
    loading_peak_bytes: int = 0
    """The same while it was loaded."""
    time_s: float = 0.0
    """Of one call, traced before where that was tried; 0 where the process ended in it."""
    status: Status = Status.OK
    reason: str = ""
    peaks: tuple[int, ...] = ()
    """Of every equal process, ascending, where there was more than one: `call_peak_bytes` is their median."""

    @property
    def most_bytes(self) -> int:
        """The most that any process with this batch added."""
        return max(self.peak_bytes, *self.peaks) if self.peaks else self.peak_bytes

    def again(self, run: PlainRun) -> PlainRun:
        """With one more equal process; one that did not come through is what counts."""
        if run.status is not Status.OK or not run.came_through:
            return replace(run, purpose=self.purpose)
        peaks = tuple(sorted((*(self.peaks or (self.call_peak_bytes,)), run.call_peak_bytes)))
        return replace(self, call_peak_bytes=int(median(peaks)), time_s=min(self.time_s, run.time_s), peaks=peaks)

    @property
    def came_through(self) -> bool:
        """Whether the call ended by itself, so that its peak is known; it may lie above the limit all the same."""
        return self.time_s > 0

    @property
    def peak_bytes(self) -> int:
        """The most that the process added."""
        return max(self.call_peak_bytes, self.loading_peak_bytes)


def ended(wanted: Wanted, before: Before) -> PlainRun:
    """A run whose process did not live to say what it measured."""
    return PlainRun(
        wanted.rows, wanted.purpose, call_peak_bytes=before.peak_bytes, status=before.status, reason=before.reason
    )
