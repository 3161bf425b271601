"""Two samples, of categories or of numbers: do they come from one distribution? Exact where counts are small.

Two samples of numbers: do they come from one distribution? Anderson–Darling and Kolmogorov–Smirnov, exact about ties.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from stethoscope.drift.corrections import drawn_p_value, tail

Numbers = npt.NDArray[np.float64]

FEW = 20
"""Rows of the smaller side below which the distribution of the statistic is drawn instead of computed."""
RANK_DRAWS, _RANK_AT_ONCE, RANK_ENOUGH = 4_999, 250, 200
_MOST_VALUES = 64
"""Different values up to which the weights of the limit are computed one by one."""
_MOST_DRAWN, _QUICKER_COUNTED = 512, 2_000
_EXACT_ROWS = 200
"""Of the larger side, up to which Kolmogorov–Smirnov is computed exactly: beyond it a column would take a tenth of a second."""
_WEIGHTS = 1 / (np.arange(1, 81) * np.arange(2, 82.0))
"""Of the limit of the statistic for values without ties: 1 / (i (i + 1))."""
_SUM_OF_SQUARES = np.pi**2 / 3 - 3


@dataclass(frozen=True)
class TwoSample:
    """A test's answer."""

    test: str
    statistic: float
    p_value: float


@dataclass(frozen=True)
class Ordered:
    """Two samples as counts of each different value, in ascending order."""

    pooled: Counts
    """Rows of both sides that have each value."""
    first: Counts
    """Those of the first side."""

    @classmethod
    def of(cls, first: Numbers, second: Numbers) -> Ordered:
        """Counts values; neither side may hold NaN."""
        values, place = np.unique(np.concatenate([first, second]), return_inverse=True)
        pooled = np.bincount(place, minlength=len(values))
        return cls(pooled, np.bincount(place[: len(first)], minlength=len(values)))

    @property
    def rows(self) -> tuple[int, int, int]:
        """Rows of the first side, of the second, of both."""
        first, both = int(self.first.sum()), int(self.pooled.sum())
        return first, both - first, both


def anderson_darling(ordered: Ordered) -> TwoSample:
    """The two-sample Anderson–Darling test, conditional on the values that occur, however often they repeat.

    Its statistic weighs differences of the two cumulative distributions by their precision, so that it sees tails and spread
    as well as location. Given the pooled values, the differences are hypergeometric with known covariances: the statistic is
    compared with the weighted sum of χ² variables that has these, or (`FEW` rows) with drawn permutations.

    Source: Scholz and Stephens, "K-Sample Anderson-Darling Tests", JASA 82 (1987), equation 6; Pettitt, Biometrika 63 (1976).
    """
    first, second, _both = ordered.rows
    if len(ordered.pooled) < 2 or not first or not second:
        return TwoSample("anderson_darling", 0.0, 1.0)
    if min(first, second) < FEW:
        few = _merged(ordered, _MOST_DRAWN)
        statistic = float(_statistic(few.pooled, few.first[None])[0])
        return TwoSample("anderson_darling", statistic, _drawn(few, statistic))
    statistic = float(_statistic(ordered.pooled, ordered.first[None])[0])
    return TwoSample("anderson_darling", statistic, _p_value(ordered.pooled, statistic))


def kolmogorov_smirnov(first: Numbers, second: Numbers) -> TwoSample:
    """The largest difference of the two cumulative distributions. Where values repeat its p-value is an upper bound."""
    from scipy.stats import ks_2samp

    if not len(first) or not len(second):
        return TwoSample("kolmogorov_smirnov", 0.0, 1.0)
    exact = max(len(first), len(second)) <= _EXACT_ROWS
    with warnings.catch_warnings():
        # Where rounding brings the exact value above 1, scipy says so and takes the asymptotic one.
        warnings.simplefilter("ignore", RuntimeWarning)
        answer = ks_2samp(first, second, method="exact" if exact else "asymp")
    return TwoSample("kolmogorov_smirnov", float(answer.statistic), float(answer.pvalue))


def _statistic(pooled: Counts, first: Counts) -> Numbers:
    """The statistic of each row of `first` (draws, values)."""
    both, own = int(pooled.sum()), int(first[0].sum())
    below = pooled.cumsum()[:-1].astype(np.float64)
    apart = both * first.cumsum(axis=1)[:, :-1] - own * below
    weights = pooled[:-1] / (both * below * (both - below))
    found: Numbers = (apart.astype(np.float64) ** 2 @ weights) * (both / (own * (both - own)))
    return found


def _p_value(pooled: Counts, statistic: float) -> float:
    """P(a statistic this large) in the limit, given the pooled values."""
    both = int(pooled.sum())
    below = pooled.cumsum()[:-1].astype(np.float64)
    share = pooled[:-1] / (both - 1)
    mean = float(share.sum())
    odds = below / (both - below)
    if len(pooled) <= _MOST_VALUES:
        root = np.sqrt(odds)
        pairs = np.minimum(root[:, None] / root[None, :], root[None, :] / root[:, None])
        weights = np.linalg.eigvalsh(np.sqrt(share[:, None] * share[None, :]) * pairs)
        return tail(statistic, weights[weights > 1e-9])
    # Of the matrix above only the sum of its diagonal and of its squares: the rest of its spectrum is that of no ties.
    lower = np.concatenate([[0.0], (share * odds).cumsum()[:-1]])
    squares = float((share**2).sum() + 2 * (share / odds * lower).sum())
    scale = (squares / _SUM_OF_SQUARES) ** 0.5
    return tail(statistic - (mean - scale * float(_WEIGHTS.sum())), scale * _WEIGHTS)


def _drawn(ordered: Ordered, statistic: float) -> float:
    first, _, both = ordered.rows
    generator = np.random.default_rng(0)
    method: Literal["count", "marginals"] = "count" if both <= _QUICKER_COUNTED else "marginals"

    def reaches(size: int) -> npt.NDArray[np.bool_]:
        draws = generator.multivariate_hypergeometric(ordered.pooled, first, size=size, method=method)
        return _statistic(ordered.pooled, draws) >= statistic * (1 - 1e-12)

    return drawn_p_value(reaches, RANK_DRAWS, _RANK_AT_ONCE, RANK_ENOUGH)


def _merged(ordered: Ordered, most: int) -> Ordered:
    """Neighbouring values joined to at most `most` groups, the same for both sides."""
    if len(ordered.pooled) <= most:
        return ordered
    both = int(ordered.pooled.sum())
    groups = np.minimum((ordered.pooled.cumsum() - 1) * most // both, most - 1)
    merged = [np.bincount(groups, one, most).astype(np.int64) for one in (ordered.pooled, ordered.first)]
    kept = merged[0] > 0
    return Ordered(merged[0][kept], merged[1][kept])


Counts = npt.NDArray[np.int64]

LEAST_EXPECTED = 5.0
"""Source: Cochran, "Some methods for strengthening the common χ² tests", Biometrics 10 (1954)."""
DRAWS, _AT_ONCE, ENOUGH = 9_999, 250, 200
_FEW_ROWS, _FEW_VALUES = 2_000, 256


def same_mix(first: Counts, second: Counts) -> TwoSample:
    """Tests whether two sides have their categories in the same proportions.

    With at least five rows expected of every category: Pearson's χ². Below: of two categories Fisher's exact test, of few rows
    the permutation distribution of the same statistic, of many rows χ² with the rare categories joined.

    Args:
        first: (categories,) rows of one side.
        second: the same categories of the other.
    """
    both = first + second
    first, second, both = first[both > 0], second[both > 0], both[both > 0]
    if len(both) < 2 or not first.sum() or not second.sum():
        return TwoSample("chi_squared", 0.0, 1.0)
    if least_expected(first, second) >= LEAST_EXPECTED:
        return _chi_squared(first, second)
    if len(both) == 2:
        from scipy.stats import fisher_exact

        statistic = chi_squared_statistic(first, second)
        return TwoSample("fisher_exact", statistic, float(fisher_exact(np.stack([first, second])).pvalue))
    if both.sum() <= _FEW_ROWS and len(both) <= _FEW_VALUES:
        return _permuted(first, second)
    joined = _rare_joined(first, second)
    if len(joined[0]) == 2 and least_expected(*joined) < LEAST_EXPECTED:
        return same_mix(*joined)
    return _chi_squared(*joined)


def least_expected(first: Counts, second: Counts) -> float:
    """The smallest count expected of a category on a side, were the mix the same."""
    both = first + second
    return float(both.min() * min(first.sum(), second.sum()) / both.sum())


def chi_squared_statistic(first: Counts, second: Counts) -> float:
    """Pearson's χ² of a table of two rows, without correction."""
    return float(_statistics((first + second).astype(np.float64), first[None].astype(np.float64))[0])


def _statistics(both: npt.NDArray[np.float64], first: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    total, own = both.sum(), first[0].sum()
    expected = both * own / total
    # What one side has too much the other has too little: its part is in the factor.
    found: npt.NDArray[np.float64] = ((first - expected) ** 2 / expected).sum(axis=1) * (total / (total - own))
    return found


def _chi_squared(first: Counts, second: Counts) -> TwoSample:
    from scipy.special import chdtrc

    if len(first) < 2:
        return TwoSample("chi_squared", 0.0, 1.0)
    statistic = chi_squared_statistic(first, second)
    return TwoSample("chi_squared", statistic, float(chdtrc(len(first) - 1, statistic)))


def _permuted(first: Counts, second: Counts) -> TwoSample:
    both = first + second
    statistic = chi_squared_statistic(first, second)
    generator = np.random.default_rng(0)

    def reaches(size: int) -> npt.NDArray[np.bool_]:
        draws = generator.multivariate_hypergeometric(both, int(first.sum()), size=size, method="count")
        found: npt.NDArray[np.bool_] = _statistics(both.astype(np.float64), draws.astype(np.float64)) >= reached
        return found

    reached = statistic * (1 - 1e-12)
    return TwoSample("chi_squared_permuted", statistic, drawn_p_value(reaches, DRAWS, _AT_ONCE, ENOUGH))


def _rare_joined(first: Counts, second: Counts) -> tuple[Counts, Counts]:
    """Categories too rare for χ² as one; which ones they are depends on both sides together only."""
    both = first + second
    smaller = min(first.sum(), second.sum()) / both.sum()
    order = np.argsort(both, kind="stable")
    rare = both[order] * smaller < LEAST_EXPECTED
    count = int(rare.sum())
    # One more, the next rarest, where all of them together are still too few.
    while count < len(order) - 1 and both[order[:count]].sum() * smaller < LEAST_EXPECTED:
        count += 1
    joined, kept = order[:count], order[count:]
    return (
        np.append(first[kept], first[joined].sum()).astype(np.int64),
        np.append(second[kept], second[joined].sum()).astype(np.int64),
    )
