"""TensorBoard's smoothing of curves, over all points of many runs at once.

Which points of a long curve a chart needs: the lowest and the highest of every pixel column, in the order they came.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_BELOW_ONE = 1 - 1e-12
Ints = npt.NDArray[np.int64]


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

Floats = npt.NDArray[np.float64]


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
