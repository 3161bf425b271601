"""A part of a chart, as many points as its pixels can show: computed on all points, with nothing that stands out lost."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from stethoscope.logs.better import best_is_low
from stethoscope.logs.runs.chart import Chart, Line, Mark, Pair, View
from stethoscope.logs.runs.selection import Floats, Points, group_points, select, smooth, thin, touching
from stethoscope.logs.runs.table import RunTable

MAX_POINTS = 200_000
"""Points of all series of a chart together."""
MAX_MARKS = 200
"""NaN and infinities of one series that are told one by one."""
_FEWEST_COLUMNS = 4
_MAX_WORK = 6_000_000
"""Values interpolated for the groups of a chart: beyond it means are taken at fewer places, until one zooms in."""
_OUTLIERS = (5, 95)
"""Percentiles between which nothing is an outlier. Source: TensorBoard, "ignore outliers in chart scaling"."""
_MARGIN = 0.05


def window(table: RunTable, view: View) -> Chart:
    """Computes a chart.

    Raises:
        IndexError: there is no such tag.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        # Values at the ends of the scale: what cannot be told then is left out further on.
        return _window(table, view)


def _window(table: RunTable, view: View) -> Chart:
    curves = table.curves(view.tag)
    wanted = view.runs if view.groups is None else tuple(run for _, runs in view.groups for run in runs)
    raw = select(curves, wanted, view.x, view.restarts)
    timed = np.isfinite(raw.x)
    raw = raw.only(timed)
    finite = np.isfinite(raw.y)
    points = raw.only(finite)
    x_range = (float(raw.x.min()), float(raw.x.max())) if len(raw.x) else None
    low, high = _bounds(view, x_range)
    units = {table.runs[run].unit for run in raw.runs.tolist()}
    unit = units.pop() if len(units) == 1 else ""
    weighed = smooth(points.y, points.edges, view.smoothing) if view.smoothing > 0 else None
    marks = _marks(raw, finite, low, high) if len(points.y) < len(raw.y) else {}
    lowest = best_is_low(table.tags[view.tag])
    if view.groups is not None:
        lines, ranged = _groups(view, points, weighed, (low, high), marks, lowest)
    else:
        lines, ranged = _runs(view, points, weighed, (low, high), marks, lowest)
    return Chart(unit, x_range, *ranged, lines)


def _bounds(view: View, x_range: Pair | None) -> Pair:
    first, last = x_range or (0.0, 0.0)
    low = first if view.low is None else view.low
    high = last if view.high is None else view.high
    return min(low, high), max(low, high)


def _columns(view: View, series: int, per_column: int) -> int:
    return max(_FEWEST_COLUMNS, min(view.columns, MAX_POINTS // max(per_column * series, 1)))


def _runs(
    view: View,
    points: Points,
    weighed: Floats | None,
    bounds: Pair,
    marks: dict[int, tuple[list[Mark], int]],
    lowest: bool,
) -> tuple[list[Line], tuple[Pair | None, Pair | None]]:
    place = points.place
    there = touching(points.x, place, *bounds)
    x, y, of, smoothed = points.x, points.y, place, weighed
    if not there.all():
        x, y, of, smoothed = x[there], y[there], of[there], None if weighed is None else weighed[there]
    inside = (x >= bounds[0]) & (x <= bounds[1])
    every = bool(inside.all())
    centres = y if smoothed is None else smoothed
    ranged = _ranges(y if every else y[inside], centres if every else centres[inside])
    places = np.arange(len(points.runs) + 1)
    counts = np.diff(np.searchsorted(of, places)).tolist()
    shown = counts if every else np.bincount(of[inside], minlength=len(places)).tolist()
    kept = thin(x, (y,), of, *bounds, _columns(view, len(points.runs), 2))
    if len(kept) < len(x):
        x, y, of, smoothed = x[kept], y[kept], of[kept], None if smoothed is None else smoothed[kept]
    edges = np.searchsorted(of, places).tolist()
    best = _best(points, lowest)
    lines = []
    for at, run in enumerate(points.runs.tolist()):
        begin, end = edges[at], edges[at + 1]
        first, after = int(points.edges[at]), int(points.edges[at + 1])
        told, total = marks.get(at, ([], 0))
        lines.append(
            Line(
                x[begin:end],
                y[begin:end],
                run=run,
                smooth=None if smoothed is None else smoothed[begin:end],
                points=shown[at],
                total=after - first,
                thinned=end - begin < counts[at],
                marks=tuple(told),
                marks_total=total,
                best=best[at],
                last=_told(float(points.x[after - 1]), float(points.y[after - 1])) if after > first else None,
            )
        )
    return lines, ranged


def _groups(
    view: View,
    points: Points,
    weighed: Floats | None,
    bounds: Pair,
    marks: dict[int, tuple[list[Mark], int]],
    lowest: bool,
) -> tuple[list[Line], tuple[Pair | None, Pair | None]]:
    groups = view.groups or ()
    columns = _columns(view, len(groups), 6)
    place_of = {run: at for at, run in enumerate(points.runs.tolist())}
    room = _MAX_WORK // max(len(groups), 1)
    lines: list[Line] = []
    spans, centres = [], []
    for name, runs in groups:
        places = [place_of[run] for run in dict.fromkeys(runs) if run in place_of]
        if not places:
            continue
        made = group_points(points, weighed, places, max(2 * columns, room // len(places)))
        whole = made
        if made.coarse and len(made.x) and (bounds[0] > made.x[0] or bounds[1] < made.x[-1]):
            made = group_points(points, weighed, places, max(2 * columns, room // len(places)), bounds)
        near = np.flatnonzero(touching(made.x, np.zeros(len(made.x), np.int64), *bounds))
        x, y, low, high = (one[near] for one in (made.x, made.mean, made.low, made.high))
        inside = (x >= bounds[0]) & (x <= bounds[1])
        spans += [low[inside], high[inside]]
        centres.append(y[inside] if made.smooth is None else made.smooth[near][inside])
        kept = thin(x, (y, low, high), np.zeros(len(x), np.int64), *bounds, columns)
        told = [mark for at in places for mark in marks.get(at, ([], 0))[0]]
        of_group = Points(np.zeros(1, np.int64), np.array([0, len(whole.x)]), whole.x, whole.mean)
        lines.append(
            Line(
                x[kept],
                y[kept],
                group=name,
                smooth=None if made.smooth is None else made.smooth[near][kept],
                low=low[kept],
                high=high[kept],
                count=made.count[near][kept],
                points=int(np.count_nonzero(inside)),
                total=len(whole.x),
                thinned=len(kept) < len(x),
                marks=tuple(sorted(told, key=lambda mark: mark.x)[:MAX_MARKS]),
                marks_total=sum(marks.get(at, ([], 0))[1] for at in places),
                best=_best(of_group, lowest)[0],
                last=_told(float(whole.x[-1]), float(whole.mean[-1])) if len(whole.x) else None,
            )
        )
    none: Floats = np.zeros(0)
    return lines, _ranges(np.concatenate([none, *spans]), np.concatenate([none, *centres]))


def _best(points: Points, lowest: bool) -> list[Pair | None]:
    """Per run the first point with its best value."""
    found: list[Pair | None] = [None] * len(points.runs)
    filled = np.flatnonzero(np.diff(points.edges))
    if not len(filled):
        return found
    begins = points.edges[filled]
    best = (np.minimum if lowest else np.maximum).reduceat(points.y, begins)
    reached = np.flatnonzero(points.y == np.repeat(best, np.diff(points.edges)[filled]))
    first = reached[np.searchsorted(reached, begins)]
    for run, x, y in zip(filled.tolist(), points.x[first].tolist(), best.tolist(), strict=True):
        found[run] = _told(x, y)
    return found


def _marks(raw: Points, finite: npt.NDArray[np.bool_], low: float, high: float) -> dict[int, tuple[list[Mark], int]]:
    """By the place of the run: its first values in the window that are not finite, and how many there are."""
    inside = np.flatnonzero(~finite & (raw.x >= low) & (raw.x <= high))
    if not len(inside):
        return {}
    place = raw.place
    known = np.flatnonzero(finite)
    found: dict[int, tuple[list[Mark], int]] = {}
    begins = np.flatnonzero(np.diff(place[inside], prepend=-1))
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(inside)], strict=True):
        at = int(place[inside[begin]])
        first, after = np.searchsorted(known, raw.edges[at : at + 2])
        mine = known[first:after]
        told = []
        for one in inside[begin : min(end, begin + MAX_MARKS)].tolist():
            before = int(np.searchsorted(mine, one))
            hint = float(raw.y[mine[max(before - 1, 0)]]) if len(mine) else None
            value = float(raw.y[one])
            kind = "nan" if math.isnan(value) else "+inf" if value > 0 else "-inf"
            told.append(Mark(float(raw.x[one]), kind, hint))
        found[at] = (told, end - begin)
    return found


def _ranges(values: Floats, centres: Floats) -> tuple[Pair | None, Pair | None]:
    # Means and deviations of values at the end of the scale may lie beyond it.
    values, centres = values[np.isfinite(values)], centres[np.isfinite(centres)]
    if not len(values) or not len(centres):
        return None, None
    clipped: Sequence[float] = np.percentile(centres, _OUTLIERS).tolist()
    return _padded(float(values.min()), float(values.max())), _padded(clipped[0], clipped[1])


def _padded(low: float, high: float) -> Pair | None:
    """With a margin of a twentieth on each side; a single value gets room around it."""
    margin = _MARGIN * (high - low) or _MARGIN * abs(high) or 1.0
    padded = (low - margin, high + margin)
    return _told(*padded) or _told(low, high)


def _told(x: float, y: float) -> Pair | None:
    """A pair of numbers; None where one of them is none that JSON can hold."""
    return (x, y) if math.isfinite(x) and math.isfinite(y) else None
