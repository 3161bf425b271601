"""Series of several readings as one sorted list, and what the readings say of each added up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stethoscope.logs.runs.columns import NUMBERS, SERIES

_S = {name: at for at, name in enumerate(SERIES)}
_N = {name: at for at, name in enumerate(NUMBERS)}
Ints = npt.NDArray[np.int64]


class SeriesRow(NamedTuple):
    """One series of one segment."""

    tag: int
    run: int
    source: int
    segment: int
    row: int
    first: int
    points: int


class SeriesRows(NamedTuple):
    """Series of all segments; every array has the shape (series,)."""

    tag: Ints
    run: Ints
    source: Ints
    segment: Ints
    row: Ints
    first: Ints
    points: Ints

    def between(self, begin: int, end: int) -> SeriesRows:
        """Those at places begin … end."""
        return SeriesRows(*(one[begin:end] for one in self))

    def at(self, place: int) -> SeriesRow:
        """The one at a place."""
        return SeriesRow(*(int(one[place]) for one in self))


def sorted_rows(parts: list[SeriesRows]) -> SeriesRows:
    """By tag, run, source, and the order they were read in."""
    whole = parts[0] if len(parts) == 1 else SeriesRows(*(np.concatenate(one) for one in zip(*parts, strict=True)))
    order = np.lexsort((whole.segment, whole.source, whole.run, whole.tag))
    return SeriesRows(*(one[order] for one in whole))


def row_summary(whole: list[int], numbers: list[float], low: bool) -> dict[str, Any]:
    """A row of series.npy and its row of numbers.npy, in words; `low` is whether low values are best."""
    return {
        "points": whole[_S["points"]],
        "first_step": whole[_S["first_step"]],
        "last_step": whole[_S["last_step"]],
        "last_value": numbers[_N["last_value"]],
        "best_value": numbers[_N["low_value" if low else "high_value"]],
        "best_step": whole[_S["low_step" if low else "high_step"]],
        "nonfinite": whole[_S["nonfinite"]],
        "first_wall": numbers[_N["first_wall"]],
        "last_wall": numbers[_N["last_wall"]],
    }


def extend_summary(found: dict[str, Any], more: Mapping[str, Any], low: bool) -> None:
    """Adds the summary of points that came later."""
    found["points"] += more["points"]
    found["nonfinite"] += more["nonfinite"]
    for name in ("last_step", "last_value", "last_wall"):
        found[name] = more[name]
    known, new = found["best_value"], more["best_value"]
    if not math.isnan(new) and (math.isnan(known) or (new < known if low else new > known)):
        found["best_value"], found["best_step"] = new, more["best_step"]
