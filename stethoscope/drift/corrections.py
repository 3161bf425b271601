"""Many tests at once: p-values that allow for how many there are, and for how they go together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from stethoscope.drift.pairing import Feature


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


Numbers = npt.NDArray[np.float64]

_WEIGHTS = 1 / (np.arange(1, 5) * np.arange(2, 6.0))
"""Of the leading components of the Anderson–Darling statistic, which are Legendre polynomials of the ranks."""
_MOST_LEVELS = 12
"""Commonest categories that get a component each; the others share one."""
_MOST_ROWS, _MOST_DRAWS, _LEAST_DRAWS, _MOST_PRODUCTS = 2_000, 4_000, 1_000, 6e9
_AT_ONCE = 500
_ENOUGH = 10
"""Draws beyond a level by which it can be told."""
_GRID = np.concatenate([[0.0], np.geomspace(1e-2, 40, 120)])


@dataclass(frozen=True)
class Correction:
    """`adjusted` p-values, and the smallest p-value of any feature in each draw without drift."""

    adjusted: Numbers
    smallest: Numbers
    tests: int

    def level(self, alpha: float) -> float:
        """What a p-value must be at most so that one of any feature is at most `alpha`."""
        if not self.tests:
            return alpha
        enough = alpha * len(self.smallest) >= _ENOUGH
        drawn = float(np.quantile(self.smallest, alpha)) if enough else 0.0
        return max(alpha / self.tests, min(alpha, drawn))


def correct(features: Sequence[Feature], p_values: Sequence[float], seed: int = 0) -> Correction:
    """Adjusts p-values for how many features there are and for how they depend on each other.

    Without drift the components of all statistics are jointly normal, with the correlations that their scores have over the rows of
    both sides together. These are drawn; the step-down of the smallest p-value does the rest. Holm's, which holds whatever the
    dependence, is the upper bound.

    Source: Westfall and Young, "Resampling-Based Multiple Testing" (1993), algorithm 2.8; components: Pettitt, Biometrika 63 (1976).
    """
    from threadpoolctl import threadpool_limits

    bound = holm(p_values)
    if len(features) < 2:
        return Correction(bound, np.zeros(0), len(features))
    # Products this small are slower in several threads, which mostly wait for each other.
    with threadpool_limits(1):
        drawn = _drawn(features, np.random.default_rng(seed))
    order = np.argsort(p_values, kind="stable")
    least = np.minimum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    reached = (least <= np.asarray(p_values, np.float64)[order]).sum(axis=0)
    adjusted = np.empty_like(bound)
    adjusted[order] = np.maximum.accumulate((1 + reached) / (1 + len(drawn)))
    return Correction(np.minimum(adjusted, bound), least[:, 0], len(features))


def _drawn(features: Sequence[Feature], generator: np.random.Generator) -> Numbers:
    """(draws, features): p-values as they would be without drift."""
    places, count = _places(features)
    kept = np.full(count, -1)
    chosen = generator.permutation(count)[:_MOST_ROWS]
    kept[chosen] = np.arange(len(chosen))
    scores = [_scores(one, kept[at], len(chosen)) for one, at in zip(features, places, strict=True)]
    ends = np.cumsum([one.shape[1] for one in scores])
    joined = np.concatenate(scores, axis=1).astype(np.float32)
    products = max(1, joined.shape[0] * joined.shape[1])
    draws = int(np.clip(_MOST_PRODUCTS / products, _LEAST_DRAWS, _MOST_DRAWS))
    found = np.ones((draws, len(features)))
    for start in range(0, draws, _AT_ONCE):
        size = min(_AT_ONCE, draws - start)
        squares = (generator.standard_normal((size, len(chosen)), np.float32) @ joined).astype(np.float64) ** 2
        for number, (one, end) in enumerate(zip(features, ends, strict=True)):
            own = squares[:, end - scores[number].shape[1] : end]
            # Of a feature whose few values were not chosen nothing is known but that its p-value is uniform.
            drawn = _p_values(one, own) if own.shape[1] else generator.random(size)
            found[start : start + size, number] = drawn
    return found


def _p_values(one: Feature, squares: Numbers) -> Numbers:
    from scipy.special import chdtrc

    if one.kind == "category":
        return np.asarray(chdtrc(squares.shape[1], squares.sum(axis=1)), np.float64)
    width = squares.shape[1]
    found: Numbers = np.exp(np.interp(squares @ _WEIGHTS[:width], _GRID, _logarithms(width)))
    return found


@cache
def _logarithms(width: int) -> Numbers:
    """Logarithms of the p-values on the grid, of so many components."""
    found: Numbers = np.log([max(tail(float(value), _WEIGHTS[:width]), 1e-300) for value in _GRID])
    return found


def _places(features: Sequence[Feature]) -> tuple[list[npt.NDArray[np.int64]], int]:
    """Which row of both sides together each value is of; features of whose rows nothing is known have rows of their own."""
    known = [one.rows_known for one in features]
    first = max(
        (int(one.reference_rows.max(initial=-1)) + 1 for one, has in zip(features, known, strict=True) if has),
        default=0,
    )
    count = max(
        (first + int(one.current_rows.max(initial=-1)) + 1 for one, has in zip(features, known, strict=True) if has),
        default=0,
    )
    blocks: dict[tuple[int, int], npt.NDArray[np.int64]] = {}
    places = []
    for one, has in zip(features, known, strict=True):
        if has:
            places.append(np.concatenate([one.reference_rows, first + one.current_rows]))
            continue
        sizes = len(one.reference), len(one.current)
        if sizes not in blocks:
            blocks[sizes] = count + np.arange(sum(sizes))
            count += sum(sizes)
        places.append(blocks[sizes])
    return places, count


def _scores(one: Feature, places: npt.NDArray[np.int64], rows: int) -> Numbers:
    """(rows, components): orthonormal scores of the values, 0 where a row has none or was not chosen."""
    inside = places >= 0
    values = np.concatenate([one.reference, one.current])[inside]
    found = np.zeros((rows, 0))
    if len(values) > 1:
        made = _levels(values) if one.kind == "category" else _polynomials(values)
        made = made - made.mean(axis=0)
        axes, sizes, _ = np.linalg.svd(made, full_matrices=False) if one.kind == "category" else _in_order(made)
        kept = axes[:, sizes > 1e-6 * max(1e-12, float(sizes.max(initial=0)))]
        found = np.zeros((rows, kept.shape[1]))
        found[places[inside]] = kept
    return found


def _in_order(made: Numbers) -> tuple[Numbers, Numbers, None]:
    """Orthonormal columns of which each is the next of `made` less what those before have of it."""
    axes, upper = np.linalg.qr(made)
    return axes, np.abs(np.diag(upper)), None


def _levels(values: npt.NDArray[np.object_]) -> Numbers:
    _, place, counts = np.unique(values.astype(str), return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    group = np.full(len(counts), min(_MOST_LEVELS, len(counts)))
    group[order[:_MOST_LEVELS]] = np.arange(min(_MOST_LEVELS, len(counts)))
    found: Numbers = np.eye(min(_MOST_LEVELS, len(counts)) + 1)[group[place]]
    return found


def _polynomials(values: Numbers) -> Numbers:
    from scipy.stats import rankdata

    at = 2 * (rankdata(values) - 0.5) / len(values) - 1
    found: Numbers = np.polynomial.legendre.legvander(at, len(_WEIGHTS))[:, 1:]
    return found
