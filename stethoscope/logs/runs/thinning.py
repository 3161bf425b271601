"""Which points of a long curve a chart needs: the lowest and the highest of every pixel column, in the order they came."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_BELOW_ONE = 1 - 1e-12
Floats = npt.NDArray[np.float64]
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
