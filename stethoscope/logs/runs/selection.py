"""The points of chosen runs that a chart is made of: on which axis, with or without what a restart has overwritten.

Runs that belong together, as one curve: their mean at every step, and how far they lie apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.logs.runs.table import Curves
from stethoscope.logs.series import latest_places

Axis = Literal["step", "relative", "wall"]
Restarts = Literal["latest", "all"]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Points:
    """Points of several runs, one run after another."""

    runs: Ints
    """Indices of the runs."""
    edges: Ints
    """Points of the run at place k are edges[k]:edges[k + 1]."""
    x: Floats
    y: Floats

    @property
    def place(self) -> Ints:
        """For every point the place of its run, shape (points,)."""
        return np.repeat(np.arange(len(self.runs)), np.diff(self.edges))

    def only(self, kept: npt.NDArray[np.bool_]) -> Points:
        """The points that are kept; runs stay, without points perhaps."""
        if kept.all():
            return self
        counts = np.add.reduceat(np.append(kept, False), self.edges[:-1]) if len(self.runs) else np.zeros(0, np.int64)
        counts = np.where(np.diff(self.edges) > 0, counts, 0)
        return Points(self.runs, np.append(0, np.cumsum(counts)), self.x[kept], self.y[kept])


def select(curves: Curves, runs: Sequence[int] | None, x: Axis, restarts: Restarts) -> Points:
    """Points of the runs that have the tag; `x` in steps, in seconds since the run's first point, or in seconds since 1970."""
    chosen = curves if runs is None else _chosen(curves, runs)
    step, wall, value, edges = chosen.step, chosen.wall_time, chosen.value, chosen.edges
    if restarts == "latest":
        kept = _latest(step, edges)
        if kept is not None:
            step, wall, value = step[kept], wall[kept], value[kept]
            edges = np.searchsorted(kept, edges)
    if x == "step":
        return Points(chosen.runs, edges, step.astype(np.float64), value)
    if x == "relative" and len(wall):
        counts = np.diff(edges)
        started = np.full(len(counts), np.nan)
        filled = np.flatnonzero(counts)
        # From the first time of all points: a point that a restart has overwritten had its time, too.
        first = np.where(np.isfinite(chosen.wall_time), chosen.wall_time, np.inf)
        started[filled] = np.minimum.reduceat(first, chosen.edges[filled])
        wall = wall - np.repeat(started, counts)
    return Points(chosen.runs, edges, wall, value)


def _chosen(curves: Curves, runs: Sequence[int]) -> Curves:
    places = np.flatnonzero(np.isin(curves.runs, np.array(sorted(set(runs)), np.int64)))
    if len(places) == len(curves.runs):
        return curves
    counts = np.diff(curves.edges)[places]
    edges = np.append(0, np.cumsum(counts))
    slices = [curves.of(place) for place in places.tolist()]
    step, wall, value = (_taken(one, slices) for one in (curves.step, curves.wall_time, curves.value))
    return Curves(curves.runs[places], edges, step, wall, value)


def _taken(column: npt.NDArray[Any], slices: list[slice]) -> npt.NDArray[Any]:
    return np.concatenate([column[one] for one in slices]) if slices else column[:0]


def _latest(step: Ints, edges: Ints) -> npt.NDArray[np.intp] | None:
    """Places of points no later point of their run overwrites; None when that is all."""
    back = np.flatnonzero(step[1:] <= step[:-1]) + 1
    back = back[~np.isin(back, edges)]
    if not len(back):
        return None
    kept = np.ones(len(step), bool)
    for run in np.unique(np.searchsorted(edges, back, "right") - 1).tolist():
        begin, end = int(edges[run]), int(edges[run + 1])
        places = latest_places(step[begin:end])
        if places is not None:
            kept[begin:end] = False
            kept[begin + places] = True
    return np.flatnonzero(kept)


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
