"""TensorBoard's smoothing of curves, over all points of many runs at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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
