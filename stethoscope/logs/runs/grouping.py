"""Runs that belong together, as one curve: their mean at every step, and how far they lie apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stethoscope.logs.runs.selection import Floats, Points

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class GroupCurve:
    """Mean and deviation of several runs; arrays of shape (places,)."""

    x: Floats
    mean: Floats
    low: Floats
    """Mean less the standard deviation between the runs (n − 1); the mean itself where there is one run."""
    high: Floats
    count: Floats
    """How many runs are there: a run counts between its first and its last point."""
    smooth: Floats | None
    """Mean of the smoothed runs."""
    coarse: bool = False
    """Whether there are more places than the mean was taken at."""


def group_points(
    points: Points,
    weighed: Floats | None,
    places: Sequence[int],
    most: int,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> GroupCurve:
    """The curve of a group: at the steps its runs have, interpolated for those that have other steps.

    Args:
        points: finite points.
        weighed: the smoothed values, or None.
        places: of the group's runs in `points`.
        most: how many places the mean is taken at where the steps of the runs differ.
        bounds: what of the x axis is wanted; one place on each side of it comes along.
    """
    curves = [_of(points, weighed, place) for place in places]
    curves = [one for one in curves if len(one[0])]
    none: Floats = np.zeros(0)
    if not curves:
        return GroupCurve(none, none, none, none, none, None if weighed is None else none)
    first = curves[0][0]
    same = all(one[0] is first or np.array_equal(one[0], first) for one in curves)
    grid = first if same else np.unique(np.concatenate([one[0] for one in curves]))
    begin = max(int(np.searchsorted(grid, bounds[0])) - 1, 0)
    end = int(np.searchsorted(grid, bounds[1], "right")) + 1
    if begin or end < len(grid):
        same, grid = False, grid[begin:end]
    coarse = not same and len(grid) > most
    if coarse:
        grid = grid[np.linspace(0, len(grid) - 1, most).astype(np.int64)]
    return _averaged(curves, grid, same, weighed is not None, coarse)


def _averaged(
    curves: Sequence[tuple[Floats, Floats, Floats | None]], grid: Floats, same: bool, smoothed: bool, coarse: bool
) -> GroupCurve:
    """Mean and deviation at the places of `grid`; what overflows there is left out, or drawn at the end of the scale."""
    count, mean, spread = np.zeros(len(grid)), np.zeros(len(grid)), np.zeros(len(grid))
    smooth = np.zeros(len(grid)) if smoothed else None
    for x, y, averaged in curves:
        there = slice(int(np.searchsorted(grid, x[0])), int(np.searchsorted(grid, x[-1], "right")))
        value = y if same else np.interp(grid[there], x, y)
        count[there] += 1
        off = value - mean[there]
        # In two parts: the difference of two numbers at the ends of the scale lies beyond it.
        mean[there] += value / count[there] - mean[there] / count[there]
        spread[there] += off * (value - mean[there])
        if smooth is not None and averaged is not None:
            held = averaged if same else np.interp(grid[there], x, averaged)
            smooth[there] += held / count[there] - smooth[there] / count[there]
    seen = (count > 0) & np.isfinite(mean) & (np.isfinite(smooth) if smooth is not None else True)
    if not seen.all():
        grid, count, mean, spread = grid[seen], count[seen], mean[seen], spread[seen]
        smooth = None if smooth is None else smooth[seen]
    deviation = np.nan_to_num(np.sqrt(spread / np.maximum(count - 1, 1)), nan=_LARGEST)
    low, high = (np.clip(one, -_LARGEST, _LARGEST) for one in (mean - deviation, mean + deviation))
    return GroupCurve(grid, mean, low, high, count, smooth, coarse)


def _of(points: Points, weighed: Floats | None, place: int) -> tuple[Floats, Floats, Floats | None]:
    """One run, its x ascending; of points at one x the last."""
    begin, end = int(points.edges[place]), int(points.edges[place + 1])
    x, y = points.x[begin:end], points.y[begin:end]
    averaged = None if weighed is None else weighed[begin:end]
    if len(x) > 1 and not bool((x[1:] > x[:-1]).all()):
        order = np.argsort(x, kind="stable")
        order = order[np.append(x[order][1:] != x[order][:-1], True)]
        x, y = x[order], y[order]
        averaged = None if averaged is None else averaged[order]
    return x, y, averaged
