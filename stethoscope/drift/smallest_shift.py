"""How small a drift so much data can show at all: what would be found four times out of five."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

POWER = 0.8
DECILES = 10
EFFICIENCY = 0.93
"""Of the Anderson–Darling test for a shift of normal values, against a test that knows they are normal.

Source: simulation (tests/drift/test_smallest_shift.py); Scholz and Stephens (1987) find it between Wilcoxon's 0.955 and less.
"""


def shift(alpha: float, reference: int, current: int, min_effect: float = 0.0) -> float | None:
    """The smallest shift of a number, in standard deviations of normal values.

    Args:
        alpha: after the correction for many tests.
        reference: rows with a value.
        current: the same of the other side.
        min_effect: the PSI above chance that it must reach as well.

    Source: the power of a two-sided test of two means, (z₁₋α/₂ + z_power) √(1/n + 1/m), divided by √efficiency.
    """
    if not reference or not current:
        return None
    found = (_normal_quantile(1 - alpha / 2) + _normal_quantile(POWER)) * math.sqrt(
        (1 / reference + 1 / current) / EFFICIENCY
    )
    return max(found, _shift_of(_psi_needed(min_effect, reference, current, DECILES))) if min_effect else found


def mix(
    alpha: float, reference: int, current: int, categories: int, share: float, min_effect: float = 0.0
) -> tuple[float, float] | None:
    """The smallest change of one category's share, the others giving way in proportion.

    Args:
        alpha: after the correction.
        reference: rows.
        current: rows.
        categories: how many there are.
        share: of the category that changes, in both sides together.
        min_effect: as for `shift`; w² is taken for the PSI.

    Returns:
        (share points 0 … 1, the same in standard deviations of the category's indicator); None where no change could be seen.

    Source: Cohen, "Statistical Power Analysis" (1988), chapter 7: the noncentrality of χ² is w² n m / (n + m), and
    w² = δ² / (p (1 − p)).
    """
    if categories < 2 or not reference or not current or not 0 < share < 1:
        return None
    w = math.sqrt(_noncentrality(alpha, categories - 1) * (reference + current) / (reference * current))
    if min_effect:
        w = max(w, math.sqrt(_psi_needed(min_effect, reference, current, categories)))
    points = w * math.sqrt(share * (1 - share))
    return (points, w) if points <= max(share, 1 - share) else None


@cache
def _psi_needed(least: float, reference: int, current: int, bins: int) -> float:
    """The PSI of two distributions, of which samples show at least `least` above chance with `POWER`.

    Source: times n m / (n + m) the PSI of samples is about noncentral χ² with bins − 1 degrees of freedom (Yurdakul and Naranjo,
    J. Risk Model Validation 14 (2020)).
    """
    from scipy.optimize import brentq
    from scipy.stats import ncx2

    weight, freedom = reference * current / (reference + current), bins - 1
    limit = least * weight + freedom
    high = 2 * limit + 100
    return float(brentq(lambda value: ncx2.sf(limit, freedom, value) - POWER, 1e-6, high)) / weight


@cache
def _shift_of(psi: float) -> float:
    """The shift of normal values, in standard deviations, that has this PSI between deciles."""
    normal, low, high = NormalDist(), 0.0, 5.0
    edges = [normal.inv_cdf(at / DECILES) for at in range(1, DECILES)]
    for _ in range(50):
        middle = (low + high) / 2
        below = [0.0, *(normal.cdf(edge - middle) for edge in edges), 1.0]
        shares = [max(1e-12, below[at + 1] - below[at]) for at in range(DECILES)]
        found = sum((share - 1 / DECILES) * math.log(share * DECILES) for share in shares)
        low, high = (middle, high) if found < psi else (low, middle)
    return high


@cache
def _noncentrality(alpha: float, freedom: int) -> float:
    from scipy.optimize import brentq
    from scipy.stats import chi2, ncx2

    limit = chi2.isf(alpha, freedom)
    return float(brentq(lambda value: ncx2.sf(limit, freedom, value) - POWER, 1e-6, 10 * (limit + 100)))


def _normal_quantile(share: float) -> float:
    return NormalDist().inv_cdf(share)
