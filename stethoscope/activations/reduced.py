"""What is kept of one layer's output for one batch: a few numbers per unit. Here for arrays; `graph_reductions` for tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
MOST_UNITS = 65_536
"""A layer of more units (a flattened image) is summed up as a whole."""
TOP_UNITS = 2_048
"""Units of a layer whose largest values are followed row by row."""
SAMPLE_VALUES = 8_192
"""Values of one batch that go into the histogram, drawn at random where there are more."""


@dataclass(frozen=True)
class Layout:
    """How a layer's output is read. `axis` is where its units (channels, features) lie: -1, or 1 for channels first."""

    axis: int = -1
    low: float | None = None
    high: float | None = None
    """Its flat ends, as in `flat_ends.FLAT_ENDS`."""


def reduce_array(array: Array, layout: Layout, rows: int, seed: int = 0) -> dict[str, Array] | None:
    """Reduces one batch of a layer's output.

    Args:
        array: (rows, …) where its first dimension is the rows', else any shape.
        layout: how to read it.
        rows: in this batch.
        seed: of the histogram's sample.

    Returns:
        None where there is nothing to sum up (text, no values). Else, over finite values and for each unit: "count",
        "mean", "m2" (sum of squared differences from the mean), "low", "high", "zeros", "saturated"; "bad": number of
        values that are NaN or infinite; "row_high" (rows, at most `TOP_UNITS` units): the largest value of each row, with
        no rows where the array has none; "sample": values for a histogram; "shape".
    """
    if array.dtype.kind not in "fiub" and array.dtype.name not in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return None
    if array.size == 0:
        return None
    values = array if array.dtype in (np.float32, np.float64) else array.astype(np.float32)
    shaped, unit_axis, row_axis = laid_out(values, layout)
    good = np.isfinite(shaped)
    bad = int(shaped.size - np.count_nonzero(good))
    axes = tuple(place for place in range(3) if place != unit_axis)
    shown = 1 if unit_axis == 2 else 2
    kept = shaped if not bad else np.where(good, shaped, 0)
    count = good.sum(axis=axes, dtype=np.float64)
    mean = kept.sum(axis=axes, dtype=np.float64) / np.maximum(count, 1)
    shape = [1, 1, 1]
    shape[unit_axis] = -1
    apart = (kept - mean.reshape(shape).astype(kept.dtype)) * (good if bad else 1)
    highest = kept if not bad else np.where(good, shaped, -np.inf)
    row_high = highest.max(axis=shown)[: rows if row_axis and shaped.shape[0] == rows else 0, :TOP_UNITS]
    flat = shaped.reshape(-1)
    if flat.size > SAMPLE_VALUES:
        flat = flat[np.random.default_rng([seed, flat.size]).integers(0, flat.size, SAMPLE_VALUES)]
    saturated = np.zeros(shaped.shape, bool)
    if layout.low is not None:
        saturated |= shaped <= layout.low
    if layout.high is not None:
        saturated |= shaped >= layout.high
    return {
        "count": count,
        "mean": mean,
        "m2": np.square(apart, dtype=np.float64).sum(axis=axes),
        "low": (kept if not bad else np.where(good, shaped, np.inf)).min(axis=axes),
        "high": highest.max(axis=axes),
        "zeros": ((shaped == 0) & good).sum(axis=axes, dtype=np.float64),
        "saturated": (saturated & good).sum(axis=axes, dtype=np.float64),
        "bad": np.asarray(bad),
        "row_high": row_high,
        "sample": flat,
        "shape": np.asarray(array.shape),
    }


def laid_out(values: Array, layout: Layout) -> tuple[Array, int, bool]:
    """The values as (rows, positions, units) or (rows, units, positions); where the units lie; whether it has rows."""
    if values.ndim < 2:
        return values.reshape(-1, 1, 1), 2, values.ndim == 1
    axis = layout.axis if values.ndim > 2 else -1
    units = values.shape[axis]
    if units > MOST_UNITS:
        return values.reshape(values.shape[0], -1, 1), 2, True
    if axis == 1:
        return values.reshape(values.shape[0], units, -1), 1, True
    return values.reshape(values.shape[0], -1, units), 2, True
