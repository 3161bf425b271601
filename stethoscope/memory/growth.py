"""How a peak grows with the size of an open dimension (a sequence length, an image size), from a few estimates. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from stethoscope.memory.estimate import Estimate

Law = Literal["square", "proportional", "hardly"]
_SQUARE_SHARE = 0.25
"""Of the growth up to the size asked about, what its square must be to name it: beyond, it soon is most of it."""
_HARDLY = 0.05
"""A peak that grows by less than this share while the size grows fourfold hardly grows."""


@dataclass(frozen=True)
class SizePoint:
    """The peak at one size of the open dimensions."""

    size: int
    peak_bytes: int
    call_peak_bytes: int
    """Of the call alone, without loading."""


@dataclass(frozen=True)
class Growth:
    """One batch over sizes of the open dimensions."""

    batch_size: int
    points: tuple[SizePoint, ...]
    """Ascending; the last is the size asked about."""
    law: Law
    """What the memory of the call grows with: the square of the size, the size, or hardly."""
    square_share: float
    """Of the growth up to the last size, the part of its square."""


def sizes_below(size: int) -> list[int]:
    """A quarter, a half, and the size (or the batch) itself: three points tell a square from a line."""
    return sorted({max(1, size // 4), max(1, size // 2), size})


def growth(estimates: Sequence[Estimate]) -> Growth | None:
    """The growth over estimates of one batch; None for fewer than three sizes."""
    points = sorted(
        (
            SizePoint(item.size, item.peak_bytes, item.call_peak_bytes or item.peak_bytes)
            for item in estimates
            if item.size
        ),
        key=lambda point: point.size,
    )
    if len(points) < 3:
        return None
    (a, low), (b, middle), (c, high) = ((point.size, point.call_peak_bytes) for point in points[-3:])
    first, second = (middle - low) / (b - a), (high - middle) / (c - b)
    square = (second - first) / (c - a)
    start = low - a * (first - square * (a + b)) - square * a * a
    grown = max(1.0, high - start)
    share = min(1.0, max(0.0, square * c * c / grown))
    law: Law = "square" if share >= _SQUARE_SHARE else "proportional"
    if high - low < _HARDLY * low:
        law = "hardly"
    return Growth(estimates[0].batch_size, tuple(points), law, round(share, 3))
