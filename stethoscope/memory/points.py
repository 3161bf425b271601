"""What a sweep says: its points, the knee of the time per sample, and the largest batch. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

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

    def to_json(self) -> dict[str, Any]:
        """With `error_fraction`: how far the prediction was off, of what was measured."""
        value = asdict(self) | {"status": self.status.value, "error_fraction": None}
        if self.predicted_peak_bytes is not None and self.measured_peak_bytes:
            value["error_fraction"] = self.predicted_peak_bytes / self.measured_peak_bytes - 1
        return value


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


def narrowed(interval: dict[str, int] | None, points: Sequence[Point]) -> dict[str, int] | None:
    """The interval of the largest batch, held against what ran and what did not."""
    ran = max((p.batch_size for p in points if p.status is Status.OK and p.measured_peak_bytes), default=0)
    ended = min((p.batch_size for p in points if p.status is Status.OUT_OF_MEMORY), default=None)
    if interval is None:
        return None if ended is None else {"low": ran, "high": max(ran, ended - 1)}
    low, high = max(interval["low"], ran), max(interval["high"], ran)
    if ended is not None:
        low, high = min(low, ended - 1), min(high, ended - 1)
    return {"low": low, "high": high}
