"""Boxes, outlines and regions as a whole: how many of each class, how large, where on the picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from stethoscope.data.dataset import Box, Mark, Points, Polygon, Region
from stethoscope.data_study.categories import CategoryStudy
from stethoscope.data_study.numbers import NumberStudy

GRID = 32
SMALL_PIXELS, MEDIUM_PIXELS = 32**2, 96**2
"""Source: COCO's detection evaluation divides objects at 32² and 96² pixels."""


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
        self.rows = 0

    def add(self, place: int, marks: Sequence[Mark], width: int, height: int) -> None:
        """The marks of one picture of that size in pixels."""
        self.rows += 1
        self._per_picture.add(np.array([len(marks)]))
        if not marks:
            self._without.append(place)
        self._labels.add(mark.label for mark in marks)
        for label in {mark.label for mark in marks}:
            self._pictures_of[label] = self._pictures_of.get(label, 0) + 1
        for mark in marks:
            self._kinds[type(mark).__name__.lower()] += 1
            area = area_of(mark)
            bounds = bounds_of(mark)
            if bounds is None or width <= 0 or height <= 0:
                continue
            left, top, right, bottom = bounds
            if left < -1 or top < -1 or right > width + 1 or bottom > height + 1:
                self._outside.append(place)
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

    def to_json(self) -> dict[str, Any]:
        """{"rows", "labels", "kinds", "per_picture", "area_share", "aspect", "sizes", "centres": grid of counts,
        "without": places, "without_count", "outside", "tiny", "pictures_of": {label: pictures}}."""
        return {
            "rows": self.rows,
            "labels": self._labels.to_json(),
            "kinds": dict(self._kinds),
            "per_picture": self._per_picture.to_json(),
            "area_share": self._shares.to_json(),
            "aspect": self._aspects.to_json(),
            "sizes": dict(self._sizes),
            "centres": self._centres.tolist(),
            "without": self._without[:60],
            "without_count": len(self._without),
            "outside": sorted(set(self._outside))[:60],
            "outside_count": len(set(self._outside)),
            "tiny": sorted(set(self._tiny))[:60],
            "tiny_count": len(set(self._tiny)),
            "pictures_of": dict(sorted(self._pictures_of.items(), key=lambda item: -item[1])[:200]),
        }


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
