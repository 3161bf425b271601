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
