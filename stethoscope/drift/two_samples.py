"""Two samples, of categories or of numbers: do they come from one distribution? Exact where counts are small."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stethoscope.drift.corrections import drawn_p_value
from stethoscope.drift.rank_tests import TwoSample

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
