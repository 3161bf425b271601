"""How large a drift is, apart from how sure: PSI, Wasserstein, and words for them."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Effect = Literal["negligible", "small", "large"]

PSI_SMALL, PSI_LARGE = 0.1, 0.25
"""Source: Siddiqi, "Credit Risk Scorecards" (2006): below 0.1 no significant change, above 0.25 a large one."""
_BINS = 10
_NO_ROWS = 0.5
"""What counts as the rows of a bin that has none on a side."""


def psi(reference: Counts, current: Counts) -> float:
    """Population stability index of two counts of the same bins or categories; 0 where the proportions are the same."""
    used = reference + current > 0
    first, second = np.maximum(reference[used], _NO_ROWS), np.maximum(current[used], _NO_ROWS)
    p, q = first / first.sum(), second / second.sum()
    return float(((q - p) * np.log(q / p)).sum())


def psi_by_chance(bins: int, reference: int, current: int) -> float:
    """The PSI to be expected of so many rows where nothing drifted.

    Source: Yurdakul and Naranjo, "Statistical properties of the population stability index", J. Risk Model Validation 14 (2020).
    """
    return (bins - 1) * (1 / max(1, reference) + 1 / max(1, current))


def decile_counts(reference: Numbers, current: Numbers) -> tuple[Counts, Counts]:
    """Rows of both sides between the deciles of the reference; fewer bins where values repeat."""
    edges = np.unique(np.quantile(reference, np.arange(1, _BINS) / _BINS))
    return tuple(  # type: ignore[return-value]
        np.bincount(np.searchsorted(edges, side, side="left"), minlength=len(edges) + 1)
        for side in (reference, current)
    )


def wasserstein(reference: Numbers, current: Numbers) -> float:
    """The mean distance values have to be moved, in standard deviations of the reference (of both sides where that is 0).

    NaN where the values are too large for a standard deviation.
    """
    from scipy.stats import wasserstein_distance

    with np.errstate(all="ignore"):
        spread = float(reference.std()) or float(np.concatenate([reference, current]).std())
    if not math.isfinite(spread):
        return math.nan
    if not spread:
        return 0.0
    return float(wasserstein_distance(reference, current) / spread)


def in_words(above_chance: float) -> Effect:
    """A PSI above what chance gives, as negligible, small or large."""
    return "negligible" if above_chance < PSI_SMALL else "small" if above_chance < PSI_LARGE else "large"


def as_auc(above_chance: float) -> float:
    """The area under the ROC curve at which two normal distributions lie that are this PSI apart.

    A shift by d standard deviations has the PSI d² and the area Φ(d / √2).
    """
    return 0.5 * math.erfc(-math.sqrt(max(0.0, above_chance)) / 2)
