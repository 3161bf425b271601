"""What is wrong with marks whatever format they came in: outside the image, without an area, not numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from stethoscope.data.dataset import Box, Mark, Points, Polygon

_SLACK = 1.0
"""Pixels beyond the edge that rounding explains."""
_NAMED = 3


def complaints(marks: Sequence[Mark], canvas: tuple[int, int], *, known: bool) -> Iterator[str]:
    """Sentences about one image's marks, those of a kind together.

    Args:
        marks: in pixels.
        canvas: (width, height).
        known: whether the size is known; otherwise nothing is said to lie outside.
    """
    flat = [mark.label for mark in marks if isinstance(mark, Box) and (mark.width <= 0 or mark.height <= 0)]
    if flat:
        yield f"{_count(len(flat), 'box has', 'boxes have')} no area ({_some(flat)})."
    if known:
        outside = [mark.label for mark in marks if _outside(mark, *canvas)]
        if outside:
            yield (
                f"{_count(len(outside), 'mark reaches', 'marks reach')} beyond the image of {canvas[0]} × {canvas[1]} pixels "
                f"({_some(outside)})."
            )


def finite(numbers: Iterable[float]) -> bool:
    """Whether all are ordinary numbers of a size that pixels have."""
    return all(math.isfinite(number) and abs(number) < 1e7 for number in numbers)


def _outside(mark: Mark, width: int, height: int) -> bool:
    if isinstance(mark, Box):
        if mark.angle_degrees:
            return False
        corners = [(mark.x, mark.y), (mark.x + mark.width, mark.y + mark.height)]
    elif isinstance(mark, Polygon):
        corners = [point for ring in mark.rings for point in ring]
    elif isinstance(mark, Points):
        corners = list(mark.points)
    else:
        return False
    return any(
        x < -_SLACK or y < -_SLACK or x > width + _SLACK or y > height + _SLACK for x, y in corners
    )  # fmt: skip


def _some(labels: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(label or "unlabelled" for label in labels))
    return ", ".join(distinct[:_NAMED]) + (" …" if len(distinct) > _NAMED else "")


def _count(number: int, one: str, several: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {several}"
