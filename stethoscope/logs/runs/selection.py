"""The points of chosen runs that a chart is made of: on which axis, with or without what a restart has overwritten.

Runs that belong together, as one curve: their mean at every step, and how far they lie apart.

TensorBoard's smoothing of curves, over all points of many runs at once.

Which points of a long curve a chart needs: the lowest and the highest of every pixel column, in the order they came.
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


_BELOW_ONE = 1 - 1e-12


def touching(x: Floats, run: Ints, low: float, high: float) -> npt.NDArray[np.bool_]:
    """Points in low … high, and those outside that a line into or across it starts from; all arrays of shape (points,)."""
    found = (x >= low) & (x <= high)
    if len(x) < 2 or found.all():
        return found
    before, after = x[:-1], x[1:]
    across = (np.maximum(before, after) >= low) & (np.minimum(before, after) <= high) & (run[:-1] == run[1:])
    found[:-1] |= across
    found[1:] |= across
    return found


def thin(x: Floats, ys: tuple[Floats, ...], run: Ints, low: float, high: float, columns: int) -> Ints:
    """Places of the points that are kept, ascending: per run and column the lowest and highest of each of `ys`, the first and the last.

    A run with at most two points per column keeps all. `run` must not descend.
    """
    if not len(x):
        return np.zeros(0, np.int64)
    width = high - low
    # What lies outside is there for the line that leads in: a column of its own on each side. The last one holds its upper edge.
    column = (x - low) * (columns * _BELOW_ONE / width if width > 0 else 0.0)
    column += 1
    np.clip(column, 0, columns + 1, out=column)
    key = column.astype(np.int64)
    key += run * (columns + 2)
    counts = np.bincount(run)
    few = counts <= 2 * columns * len(ys)
    kept: npt.NDArray[np.bool_] = few[run]
    if kept.all():
        return np.arange(len(x))
    kept |= _extremes(key, ys)
    many = np.bincount(run[kept], minlength=len(counts)) > 4 * (columns + 2) * len(ys)
    many &= ~few
    if many.any():
        # It goes back and forth between columns: each column counts once, however often it is visited.
        mine = np.flatnonzero(many[run])
        mine = mine[np.argsort(key[mine], kind="stable")]
        kept[mine] = _extremes(key[mine], tuple(y[mine] for y in ys))
    ends = np.flatnonzero(run[1:] != run[:-1])
    kept[[0, len(x) - 1]] = True
    kept[ends] = kept[ends + 1] = True
    return np.flatnonzero(kept)


def _extremes(key: Ints, ys: tuple[Floats, ...]) -> npt.NDArray[np.bool_]:
    """The first lowest and the first highest of each stretch of equal keys."""
    begins = np.append(0, np.flatnonzero(key[1:] != key[:-1]) + 1)
    lengths = np.diff(np.append(begins, len(key)))
    kept = np.zeros(len(key), bool)
    for y in ys:
        for extreme in (np.minimum, np.maximum):
            reached = np.flatnonzero(y == np.repeat(extreme.reduceat(y, begins), lengths))
            stretch = np.searchsorted(begins, reached, "right")
            kept[reached[np.diff(stretch, prepend=-1) > 0]] = True
    return kept


_NOTHING = 1e-18
"""A weight below this changes no sum of doubles whose first term weighs 1."""
_AT_ONCE = 1 << 15
"""Values worked on together, so that they stay near the processor."""


def smooth(value: Floats, edges: npt.NDArray[np.int64], weight: float) -> Floats:
    """The running mean in which a value k points ago weighs `weight`**k, of each run on its own.

    Args:
        value: shape (points,), all finite: points that are not are left out before, as TensorBoard does not count them.
        edges: shape (runs + 1,): run k is value[edges[k]:edges[k + 1]].
        weight: 0 (no smoothing) to below 1.

    A run whose values are all the same comes back untouched.
    Source: TensorBoard, `classicSmoothing` in tf_line_chart_data_utils: last = w·last + (1 − w)·x; y = last / (1 − wⁿ).
    """
    if weight <= 0 or not len(value):
        return value
    counts = np.diff(edges)
    position = np.arange(len(value)) - np.repeat(edges[:-1], counts)
    found = np.empty_like(value)
    factors = weight ** np.arange(_AT_ONCE + 1, dtype=np.float64)
    carried = 0.0
    for begin in range(0, len(value), _AT_ONCE):
        part, place = value[begin : begin + _AT_ONCE] * (1 - weight), position[begin : begin + _AT_ONCE]
        _sum_back(part, place, weight)
        # Of the run that had begun before this block, what came before it weighs in too.
        going_on = len(part) if place[0] > 0 else 0
        if going_on and place[-1] != place[0] + len(part) - 1:
            going_on = int(np.argmin(place))
        if going_on:
            part[:going_on] += carried * factors[1 : going_on + 1]
        carried = float(part[-1])
        found[begin : begin + _AT_ONCE] = part
    weights = 1 - weight ** np.arange(1, int(counts.max()) + 1, dtype=np.float64)
    found /= weights[position]
    for run in np.flatnonzero(_constant(value, edges)).tolist():
        found[edges[run] : edges[run + 1]] = value[edges[run] : edges[run + 1]]
    return found


def _sum_back(part: Floats, position: npt.NDArray[np.int64], weight: float) -> None:
    """Makes every value the sum of those up to it in its run, each weighed by its distance; by doubling distances."""
    distance, factor = 1, weight
    longest = min(int(position.max()) + 1, len(part))
    one_run = position[-1] - position[0] == len(part) - 1
    while distance < longest and factor > _NOTHING:
        earlier = part[:-distance] * factor
        if not one_run:
            earlier *= position[distance:] >= distance
        part[distance:] += earlier
        distance, factor = distance * 2, factor * factor


def _constant(value: Floats, edges: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    filled = np.flatnonzero(np.diff(edges) > 0)
    found = np.zeros(len(edges) - 1, bool)
    found[filled] = np.minimum.reduceat(value, edges[filled]) == np.maximum.reduceat(value, edges[filled])
    return found
