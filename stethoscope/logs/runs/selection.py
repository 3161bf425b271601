"""The points of chosen runs that a chart is made of: on which axis, with or without what a restart has overwritten."""

from __future__ import annotations

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
