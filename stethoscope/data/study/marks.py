"""How often each class or value occurs; marks as a whole: how many, how large, where on the picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.data.dataset import Box, Mark, Points, Polygon, Region
from stethoscope.data.study.mark_classes import MarkClasses, MarkLooks
from stethoscope.data.study.numbers import Numbers, NumberStudy

MAX_VALUES = 10_000
SHOWN = 60


@dataclass(frozen=True)
class Counted:
    """How often a value occurs; hostile text."""

    value: str
    count: int


@dataclass(frozen=True)
class Categories:
    """How often each value of a field occurs."""

    count: int = 0
    """Values that are there,"""
    missing: int = 0
    """and that are not."""
    distinct: int | None = 0
    """None where there are too many to tell."""
    values: tuple[Counted, ...] = ()
    """The `SHOWN` commonest, the commonest first."""
    others: int = 0
    """Rows with none of `values`."""
    study: Literal["category"] = "category"


class CategoryStudy:
    """Counts values by their text; beyond `MAX_VALUES` different ones, new ones are only counted together."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._others = self._missing = self._rows = 0

    def add(self, values: Iterable[Any]) -> None:
        """More values; None, NaN and empty texts are missing."""
        for value, times in Counter(values).items():
            self._rows += times
            if value is None or value == "" or value != value:  # noqa: PLR0124 - NaN is the value that is not itself
                self._missing += times
            elif (text := str(value)) in self._counts or len(self._counts) < MAX_VALUES:
                self._counts[text] += times
            else:
                self._others += times

    @property
    def constant(self) -> bool:
        """Whether every row has the same value."""
        return len(self._counts) == 1 and not self._missing and self._rows > 1

    def count(self, value: str) -> int:
        """Rows with this value."""
        return self._counts[value]

    @property
    def values(self) -> list[str]:
        """Every value that was counted by itself, the commonest first."""
        return [text for text, _ in self._counts.most_common()]

    def result(self) -> Categories:
        """What was counted."""
        shown = self._counts.most_common(SHOWN)
        return Categories(
            count=self._rows - self._missing,
            missing=self._missing,
            distinct=len(self._counts) if not self._others else None,
            values=tuple(Counted(text[:200], count) for text, count in shown),
            others=self._rows - self._missing - sum(count for _, count in shown),
        )


GRID = 32
EDGE = 0.01
USUAL_WHOLE = 0.2
"""Share of a class's boxes over the whole picture from which that is how it is marked."""
SMALL_PIXELS, MEDIUM_PIXELS = 32**2, 96**2
"""Source: COCO's detection evaluation divides objects at 32² and 96² pixels."""


@dataclass(frozen=True)
class Marks:
    """What is marked on pictures; lists of rows are their first 60 places."""

    rows: int
    labels: Categories
    kinds: Mapping[str, int]
    """"box", "polygon", "points", "region"."""
    per_picture: Numbers
    area_share: Numbers
    """Of the picture."""
    aspect: Numbers
    """Width over height."""
    sizes: Mapping[str, int]
    """"small", "medium", "large"; see `SMALL_PIXELS`."""
    centres: tuple[tuple[int, ...], ...]
    """Marks by where on the picture their centres are: `GRID` rows and columns."""
    without: tuple[int, ...]
    without_count: int
    outside: tuple[int, ...]
    """Rows with marks that reach beyond the picture."""
    outside_count: int
    tiny: tuple[int, ...]
    """Rows with marks thinner than a pixel."""
    tiny_count: int
    pictures_of: Mapping[str, int]
    """By label, the commonest first."""
    whole: tuple[int, ...] = ()
    """Rows with a box over the whole picture, where boxes of its class are not usually so large,"""
    whole_count: int = 0
    classes: MarkClasses = field(default_factory=MarkClasses)


class MarkStudy:
    """What is marked on pictures."""

    def __init__(self) -> None:
        self._labels = CategoryStudy()
        self._per_picture, self._shares, self._aspects = NumberStudy(), NumberStudy(), NumberStudy()
        self._sizes: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._centres = np.zeros((GRID, GRID), np.int64)
        self._without: list[int] = []
        self._outside: list[int] = []
        self._tiny: list[int] = []
        self._pictures_of: dict[str, int] = {}
        self._whole: list[tuple[int, str]] = []
        self._looks = MarkLooks()
        self.rows = 0

    def add(
        self, place: int, marks: Sequence[Mark], width: int, height: int, picture: npt.NDArray[Any] | None = None
    ) -> None:
        """The marks of one picture of that size in pixels; `picture` where there is one to look at."""
        self.rows += 1
        self._per_picture.add(np.array([len(marks)]))
        if not marks:
            self._without.append(place)
        self._labels.add(mark.label for mark in marks)
        for label in {mark.label for mark in marks}:
            self._pictures_of[label] = self._pictures_of.get(label, 0) + 1
        for number, mark in enumerate(marks):
            self._kinds[type(mark).__name__.lower()] += 1
            area = area_of(mark)
            bounds = bounds_of(mark)
            if bounds is None or width <= 0 or height <= 0:
                continue
            left, top, right, bottom = bounds
            if left < -1 or top < -1 or right > width + 1 or bottom > height + 1:
                self._outside.append(place)
            if isinstance(mark, Box) and _is_whole(bounds, width, height):
                self._whole.append((place, mark.label))
            if picture is not None:
                self._looks.add(place, number, mark, bounds, picture)
            across, down = (left + right) / 2 / width, (top + bottom) / 2 / height
            self._centres[min(GRID - 1, max(0, int(down * GRID))), min(GRID - 1, max(0, int(across * GRID)))] += 1
            if isinstance(mark, Points):
                continue
            if right - left < 1 or bottom - top < 1:
                self._tiny.append(place)
            else:
                self._aspects.add(np.array([(right - left) / (bottom - top)]))
            self._shares.add(np.array([area / (width * height)]))
            self._sizes["small" if area < SMALL_PIXELS else "medium" if area < MEDIUM_PIXELS else "large"] += 1

    def result(self) -> Marks:
        """What was found."""
        outside, tiny = sorted(set(self._outside)), sorted(set(self._tiny))
        often = Counter(label for _, label in self._whole)
        whole = sorted(
            {place for place, label in self._whole if often[label] <= max(1, USUAL_WHOLE * self._labels.count(label))}
        )
        return Marks(
            rows=self.rows,
            labels=self._labels.result(),
            kinds=dict(self._kinds),
            per_picture=self._per_picture.result(),
            area_share=self._shares.result(),
            aspect=self._aspects.result(),
            sizes=dict(self._sizes),
            centres=tuple(tuple(row) for row in self._centres.tolist()),
            without=tuple(self._without[:60]),
            without_count=len(self._without),
            outside=tuple(outside[:60]),
            outside_count=len(outside),
            tiny=tuple(tiny[:60]),
            tiny_count=len(tiny),
            whole=tuple(whole[:60]),
            whole_count=len(whole),
            classes=self._looks.result(),
            pictures_of=dict(sorted(self._pictures_of.items(), key=lambda item: -item[1])[:200]),
        )


def _is_whole(bounds: tuple[float, float, float, float], width: int, height: int) -> bool:
    """Whether a box leaves nothing of the picture out but a hundredth at each edge."""
    left, top, right, bottom = bounds
    return (
        left <= width * EDGE and top <= height * EDGE and right >= width * (1 - EDGE) and bottom >= height * (1 - EDGE)
    )


def bounds_of(mark: Mark) -> tuple[float, float, float, float] | None:
    """(left, top, right, bottom) in pixels; None for an empty mark. A turned box is given by its corners."""
    if isinstance(mark, Box):
        if not mark.angle_degrees:
            return mark.x, mark.y, mark.x + mark.width, mark.y + mark.height
        angle = np.deg2rad(mark.angle_degrees)
        across = abs(mark.width * np.cos(angle)) + abs(mark.height * np.sin(angle))
        down = abs(mark.width * np.sin(angle)) + abs(mark.height * np.cos(angle))
        x, y = mark.x + mark.width / 2, mark.y + mark.height / 2
        return float(x - across / 2), float(y - down / 2), float(x + across / 2), float(y + down / 2)
    if isinstance(mark, Region):
        rows, columns = np.flatnonzero(mark.bits.any(axis=1)), np.flatnonzero(mark.bits.any(axis=0))
        if not rows.size:
            return None
        return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)
    points = [point for ring in mark.rings for point in ring] if isinstance(mark, Polygon) else list(mark.points)
    if not points:
        return None
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def area_of(mark: Mark) -> float:
    """Square pixels. Of a polygon, the sum over its rings by the shoelace formula (Meister, 1769)."""
    if isinstance(mark, Box):
        return abs(mark.width * mark.height)
    if isinstance(mark, Region):
        return float(mark.bits.sum())
    if isinstance(mark, Polygon):
        return sum(abs(_shoelace(ring)) for ring in mark.rings)
    return 0.0


def _shoelace(ring: Sequence[tuple[float, float]]) -> float:
    return sum(x * v - u * y for (x, y), (u, v) in zip(ring, (*ring[1:], *ring[:1]), strict=True)) / 2
