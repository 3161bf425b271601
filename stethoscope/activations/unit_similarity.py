"""How alike the units (channels) of a layer behave over the data: correlation or cosine, ordered so that groups show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.reduced import Layout, laid_out

MOST_UNITS = 256
MEASURES = ("correlation", "cosine")
Array = npt.NDArray[Any]


@dataclass
class UnitSimilarity:
    """Running products between units, over rows and positions. Of more than `MOST_UNITS` units, those evenly spaced."""

    layout: Layout
    units: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    """Which of the layer's units are compared."""
    all_units: int = 0
    count: int = 0
    _shift: Array = field(default_factory=lambda: np.zeros(0))
    _sums: Array = field(default_factory=lambda: np.zeros(0))
    _products: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def add(self, array: Array) -> None:
        """Merges one batch of the layer's output; positions with a NaN or infinite value are left out."""
        shaped, unit_axis, _ = laid_out(array.astype(np.float32), self.layout)
        values = np.moveaxis(shaped, unit_axis, -1).reshape(-1, shaped.shape[unit_axis])
        if not self.all_units:
            self.all_units = values.shape[1]
            self.units = np.unique(
                np.linspace(0, self.all_units - 1, min(MOST_UNITS, self.all_units)).round().astype(np.int64)
            )
            self._sums = np.zeros(len(self.units))
            self._products = np.zeros((len(self.units), len(self.units)))
        chosen = values[:, self.units].astype(np.float64)
        chosen = chosen[np.isfinite(chosen).all(axis=1)]
        if not len(chosen):
            return
        if not self._shift.size:
            # Sums about a value near the mean keep their digits.
            self._shift = chosen.mean(axis=0)
        apart = chosen - self._shift
        self.count += len(apart)
        self._sums += apart.sum(axis=0)
        self._products += apart.T @ apart

    def matrix(self, measure: str) -> Array:
        """(units, units) float32 in −1 … 1; NaN where a unit never changes (correlation) or is always 0 (cosine)."""
        count = max(1, self.count)
        if measure == "correlation":
            mean = self._sums / count
            between = self._products / count - np.outer(mean, mean)
        else:
            cross = np.outer(self._sums, self._shift)
            between = (self._products + cross + cross.T) / count + np.outer(self._shift, self._shift)
        size = np.sqrt(np.maximum(np.diag(between), 0.0))
        tiny = 1e-7 * max(float(size.max(initial=0.0)), 1e-30)
        safe = np.where(size > tiny, size, np.nan)
        return np.asarray(np.clip(between / np.outer(safe, safe), -1.0, 1.0), np.float32)


def ordered(matrix: Array) -> list[int]:
    """An order of the units that puts similar ones beside each other: average linkage with optimal leaf order.

    Units without a similarity (constant ones) come last.

    Source: Bar-Joseph, Gifford & Jaakkola, Fast Optimal Leaf Ordering for Hierarchical Clustering, 2001 (as in SciPy).
    """
    known = np.flatnonzero(np.isfinite(np.diag(matrix)))
    others = [int(one) for one in np.flatnonzero(~np.isfinite(np.diag(matrix)))]
    if len(known) < 3:
        return [int(one) for one in known] + others
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    distance = 1.0 - np.nan_to_num(matrix[np.ix_(known, known)].astype(np.float64))
    distance = np.maximum((distance + distance.T) / 2, 0.0)
    np.fill_diagonal(distance, 0.0)
    flat = squareform(distance, checks=False)
    tree = optimal_leaf_ordering(linkage(flat, "average"), flat)
    return [int(known[one]) for one in leaves_list(tree)] + others
