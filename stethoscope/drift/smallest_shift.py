"""How small a drift so much data can show at all: what would be found four times out of five."""

from __future__ import annotations

import math
from functools import cache

POWER = 0.8
EFFICIENCY = 0.93
"""Of the Anderson–Darling test for a shift of normal values, against a test that knows they are normal.

Source: simulation (tests/drift/test_smallest_shift.py); Scholz and Stephens (1987) find it between Wilcoxon's 0.955 and less.
"""


def shift(alpha: float, reference: int, current: int) -> float | None:
    """The smallest shift of a number, in standard deviations.

    Args:
        alpha: after the correction for many tests.
        reference: rows with a value.
        current: the same of the other side.

    Source: the power of a two-sided test of two means, (z₁₋α/₂ + z_power) √(1/n + 1/m), divided by √efficiency.
    """
    if not reference or not current:
        return None
    return (_normal_quantile(1 - alpha / 2) + _normal_quantile(POWER)) * math.sqrt(
        (1 / reference + 1 / current) / EFFICIENCY
    )


def mix(alpha: float, reference: int, current: int, categories: int, share: float) -> tuple[float, float] | None:
    """The smallest change of one category's share, the others giving way in proportion.

    Args:
        alpha: after the correction.
        reference: rows.
        current: rows.
        categories: how many there are.
        share: of the category that changes, in both sides together.

    Returns:
        (share points 0 … 1, the same in standard deviations of the category's indicator); None where no change could be seen.

    Source: Cohen, "Statistical Power Analysis" (1988), chapter 7: the noncentrality of χ² is w² n m / (n + m), and
    w² = δ² / (p (1 − p)).
    """
    if categories < 2 or not reference or not current or not 0 < share < 1:
        return None
    w = math.sqrt(_noncentrality(alpha, categories - 1) * (reference + current) / (reference * current))
    points = w * math.sqrt(share * (1 - share))
    return (points, w) if points <= max(share, 1 - share) else None


@cache
def _noncentrality(alpha: float, freedom: int) -> float:
    from scipy.optimize import brentq
    from scipy.stats import chi2, ncx2

    limit = chi2.isf(alpha, freedom)
    return float(brentq(lambda value: ncx2.sf(limit, freedom, value) - POWER, 1e-6, 10 * (limit + 100)))


def _normal_quantile(share: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)
