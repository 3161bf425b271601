"""What is wrong with marks whatever format they came in: outside the image, without an area, not numbers.

Marks of one image, gathered until they would take too much: a small file can describe masks without end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from stethoscope.data import dataset
from stethoscope.data.dataset import Box, Mark, Points, Polygon, Region

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


def is_number(value: str) -> bool:
    """Whether a text is a number."""
    try:
        float(value)
    except ValueError:
        return False
    return True


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
    return any(x < -_SLACK or y < -_SLACK or x > width + _SLACK or y > height + _SLACK for x, y in corners)


def _some(labels: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(label or "unlabelled" for label in labels))
    return ", ".join(distinct[:_NAMED]) + (" …" if len(distinct) > _NAMED else "")


def _count(number: int, one: str, several: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {several}"


_MASK_BYTES = 400_000_000
"""Of all masks of one image together: forty of ten megapixels."""


class MarkList:
    """Keeps marks in order while there is room for them."""

    def __init__(self, budget_bytes: int) -> None:
        self._room = min(_MASK_BYTES, budget_bytes // 4)
        self._marks: list[Mark] = []
        self.problem = ""
        """Why it is full, one sentence; "" while it is not."""

    def extend(self, marks: Iterable[Mark]) -> bool:
        """Takes marks one at a time, as long as there is room.

        Returns:
            Whether there is room for more.
        """
        if self.problem:
            return False
        for mark in marks:
            self._room -= mark.bits.nbytes if isinstance(mark, Region) else 0
            if self._room < 0:
                self.problem = f"Its masks take too much memory; the first {len(self._marks):,} marks are shown."
            elif len(self._marks) >= dataset.MAX_MARKS:
                self.problem = f"Has more than {dataset.MAX_MARKS:,} marks; the first are shown."
            if self.problem:
                return False
            self._marks.append(mark)
        return True

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What was kept."""
        return tuple(self._marks)

    def said(self, problems: Iterable[str]) -> tuple[str, ...]:
        """Problems without repetition, and why the list is full where it is."""
        return tuple(dict.fromkeys([*problems, *([self.problem] if self.problem else [])]))
