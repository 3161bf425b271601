"""Histograms of many steps over the same bins, so that they can be drawn beside and over each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]


def common_edges(histograms: Sequence[Doubles], bins: int, trim_fraction: float = 0.0) -> Doubles:
    """Edges of equal bins over all values of histograms of the shape (buckets, 3): shape (bins + 1,).

    Args:
        histograms: left edge, right edge and count of every bucket.
        bins: how many.
        trim_fraction: the share of all values that may lie outside on either side; edges reach as far as the rest does.
    """
    filled = [whole(one) for one in histograms]
    every = np.concatenate([np.empty((0, 3)), *filled])
    if not len(every):
        return np.linspace(-0.5, 0.5, bins + 1)
    low, high = float(every[:, 0].min()), float(every[:, 1].max())
    if trim_fraction > 0:
        low, high = _quantile(every, trim_fraction, low), _quantile(every, 1 - trim_fraction, high)
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        half = max(abs(low), abs(high)) / 2 or 0.5
        low, high = low - half, high + half
    # Not high - low: both may be near the largest number there is.
    share = np.linspace(0, 1, bins + 1)
    return np.asarray(low * (1 - share) + high * share, np.float64)


def whole(histogram: Doubles) -> Doubles:
    """The buckets that hold something and whose edges are numbers, the lower one first."""
    buckets = histogram[(histogram[:, 2] > 0) & np.isfinite(histogram).all(axis=1)]
    return np.column_stack([np.sort(buckets[:, :2], axis=1), buckets[:, 2]])


def binned(histogram: Doubles, edges: Doubles) -> Doubles:
    """What share of the values falls into each bin: shape (bins,), the sum at most 1. Values of a bucket are spread evenly."""
    buckets, bins = whole(histogram), len(edges) - 1
    counts = np.zeros(bins)
    if not len(buckets):
        return counts
    total = buckets[:, 2].sum()
    # Halved, so that a width is a number wherever its ends are.
    left, right, count, edges = buckets[:, 0] / 2, buckets[:, 1] / 2, buckets[:, 2], edges / 2
    narrow = right - left <= (edges[-1] - edges[0]) * 1e-9
    at = np.clip(np.searchsorted(edges, left[narrow], "right") - 1, 0, bins - 1)
    inside = (left[narrow] >= edges[0]) & (left[narrow] <= edges[-1])
    np.add.at(counts, at[inside], count[narrow][inside])
    left, right, count = left[~narrow], right[~narrow], count[~narrow]
    below = (np.clip(edges[:, None], left, right) - left) / (right - left) @ count if len(left) else np.zeros(bins + 1)
    return np.asarray((counts + np.diff(below)) / total, np.float64)


def _quantile(buckets: Doubles, share: float, default: float) -> float:
    """The value below which this share of all lies."""
    left, right, count = buckets[np.argsort(buckets[:, 1], kind="stable")].T
    reached = np.cumsum(count)
    wanted = share * reached[-1]
    at = int(np.searchsorted(reached, wanted))
    if at >= len(reached) or not count[at]:
        return default
    within = 1 - (reached[at] - wanted) / count[at]
    return float(left[at] + within * (right[at] - left[at]))
