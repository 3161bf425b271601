"""Many tests at once: p-values that allow for how many there are.

P-values by drawing: as many draws as it takes to know, exact although it ends early.

The upper tail of a sum of squared normal numbers with weights: what quadratic test statistics follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt


def holm(p_values: Sequence[float]) -> npt.NDArray[np.float64]:
    """Adjusted p-values: at or below α where the family-wise error rate stays at α, whatever the tests' dependence.

    Source: Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979).
    """
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1.0)


def drawn_p_value(reaches: Callable[[int], npt.NDArray[np.bool_]], most: int, at_once: int, enough: int) -> float:
    """The p-value of a statistic against its distribution under exchange of the sides.

    Args:
        reaches: makes so many draws, and says of each whether it reaches the statistic.
        most: draws at most; the smallest p-value there can be is one in so many and one.
        at_once: draws of one call.
        enough: drawing ends once so many reach it.

    Source: Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 78 (1991).
    """
    reached = drawn = 0
    while drawn < most:
        above = reaches(min(at_once, most - drawn))
        if reached + int(above.sum()) >= enough:
            last = int(np.flatnonzero(above)[enough - reached - 1])
            return enough / (drawn + last + 1)
        reached, drawn = reached + int(above.sum()), drawn + len(above)
    return (1 + reached) / (1 + drawn)


_STEPS = 60
_NEAR_MEAN = 1e-4


def tail(value: float, weights: npt.NDArray[np.float64]) -> float:
    """P(Σ wᵢ Zᵢ² > value) for independent standard normal Zᵢ, within a few per cent of itself however small it is.

    Args:
        value: of the statistic.
        weights: all above 0.

    Source: the saddle-point approximation of Kuonen, "Saddlepoint approximations for distributions of quadratic forms in
    normal variables", Biometrika 86 (1999).
    """
    if value <= 0 or not len(weights):
        return 1.0
    scale = float(weights.max())
    weights, value = weights / scale, value / scale
    at = _saddle_point(value, weights)
    rest = 1 - 2 * at * weights
    curve = 2 * float(((weights / rest) ** 2).sum())
    height = -0.5 * float(np.log(rest).sum())
    signed = math.copysign(math.sqrt(max(0.0, 2 * (at * value - height))), at)
    if abs(signed) < _NEAR_MEAN:
        skew = 8 * float(((weights / rest) ** 3).sum()) / curve**1.5
        return float(0.5 - skew / (6 * math.sqrt(2 * math.pi)))
    drawn = signed + math.log(at * math.sqrt(curve) / signed) / signed
    return float(min(1.0, max(0.0, 0.5 * math.erfc(drawn / math.sqrt(2)))))


def _saddle_point(value: float, weights: npt.NDArray[np.float64]) -> float:
    """Where the slope of the cumulant function is `value`; the largest weight is 1, so it is below 1/2."""
    low, high = -len(weights) / (2 * value) - 1.0, 0.5
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if float((weights / (1 - 2 * middle * weights)).sum()) < value:
            low = middle
        else:
            high = middle
    return float(low)
