"""Long noisy curves in few points: means over stretches of steps, all points used."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence

_LONG = 200
"""Curves of up to this many points are judged as they are."""
_STRETCHES = 100
_LEAST_VALIDATIONS = 5
_POINTS_BETWEEN = 3
"""So many points between two validations make the stretch between them worth a mean."""


def stretch_ends(steps: Sequence[float], val_steps: Sequence[float]) -> tuple[float, ...] | None:
    """The last step of each stretch; None where the curve is short enough as it is.

    Args:
        steps: ascending steps of the curve.
        val_steps: ascending steps at which validation was logged.
    """
    if not steps:
        return None
    rounds = [step for step in val_steps if steps[0] <= step]
    if _LEAST_VALIDATIONS <= len(rounds) <= _LONG and len(steps) >= _POINTS_BETWEEN * len(rounds):
        return _whole(steps, rounds)
    if len(steps) <= _LONG:
        return None
    size = len(steps) / _STRETCHES
    return tuple(dict.fromkeys(steps[math.ceil(size * (at + 1)) - 1] for at in range(_STRETCHES)))


def _whole(steps: Sequence[float], rounds: Sequence[float]) -> tuple[float, ...]:
    """The rounds, a short stretch before the first or after the last of them joined to its neighbour."""
    places = [bisect.bisect_right(steps, end) for end in rounds]
    usual = sorted(after - before for before, after in itertools.pairwise(places))[(len(places) - 1) // 2]
    ends = list(rounds)
    if 2 * places[0] < usual:
        del ends[0]
    if steps[-1] > ends[-1]:
        if 2 * (len(steps) - places[-1]) < usual:
            ends[-1] = steps[-1]
        else:
            ends.append(steps[-1])
    return tuple(ends)


def means(
    steps: Sequence[float], values: Sequence[float], ends: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(last step, mean of the finite values) of each stretch that has a point; NaN where none of its values is finite."""
    import numpy as np

    if not values or len(steps) != len(values):
        return (), ()
    at, known = np.asarray(steps, np.float64), np.asarray(values, np.float64)
    place = np.searchsorted(np.asarray(ends, np.float64), at)
    inside = place < len(ends)
    at, known, place = at[inside], known[inside], place[inside]
    finite = np.isfinite(known)
    count = np.bincount(place[finite], minlength=len(ends))
    total = np.bincount(place[finite], weights=known[finite], minlength=len(ends))
    present = np.bincount(place, minlength=len(ends)) > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / count
    return tuple(np.asarray(ends, np.float64)[present].tolist()), tuple(mean[present].tolist())
