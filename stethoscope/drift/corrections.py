"""Many tests at once: p-values that allow for how many there are."""

from __future__ import annotations

from collections.abc import Sequence

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


def benjamini_hochberg(p_values: Sequence[float]) -> npt.NDArray[np.float64]:
    """q-values: calling drifted all that are at or below q keeps the share of false ones among them at q.

    Source: Benjamini and Hochberg, "Controlling the false discovery rate", J. R. Statist. Soc. B 57 (1995).
    """
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")[::-1]
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1.0)
