"""Masks as a whole: how many pixels and how many pictures each class has."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

MAX_CLASSES = 1_000
SHOWN = 60
_STEP_PIXELS = 1 << 20


@dataclass(frozen=True)
class MaskClass:
    """A class number: its pixels, and the masks it is in."""

    value: int
    count: int
    rows: int


@dataclass(frozen=True)
class Masks:
    """How many pixels and pictures each class has."""

    rows: int
    pixels: int
    distinct: int | None
    """None where there are too many to tell."""
    values: tuple[MaskClass, ...]
    """The one with most pixels first."""
    others: int
    """Pixels of none of `values`."""
    study: Literal["mask"] = "mask"


class MaskStudy:
    """Class numbers of pixels; beyond `MAX_CLASSES` different ones, new ones are only counted together."""

    def __init__(self) -> None:
        self._pixels: Counter[int] = Counter()
        self._rows_of: Counter[int] = Counter()
        self._others = 0
        self._rows = 0

    def add(self, mask: npt.NDArray[Any]) -> None:
        """One mask of whole numbers (height, width); of a very large one every nth row of pixels counts."""
        if mask.dtype.kind not in "biu" or not mask.size:
            return
        self._rows += 1
        step = max(1, -(-mask.size // (16 * _STEP_PIXELS)))
        values, counts = np.unique(mask[::step], return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            if int(value) in self._pixels or len(self._pixels) < MAX_CLASSES:
                self._pixels[int(value)] += count * step
                self._rows_of[int(value)] += 1
            else:
                self._others += count * step

    def result(self) -> Masks:
        """What was counted."""
        shown = self._pixels.most_common(SHOWN)
        total = sum(self._pixels.values()) + self._others
        return Masks(
            rows=self._rows,
            pixels=total,
            distinct=len(self._pixels) if not self._others else None,
            values=tuple(MaskClass(value, count, self._rows_of[value]) for value, count in shown),
            others=total - sum(count for _, count in shown),
        )
