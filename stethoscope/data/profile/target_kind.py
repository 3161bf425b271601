"""What an array of labels is: two values, classes, one-hot rows, tags, a distribution, real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.profile.array_statistics import sample_rows
from stethoscope.data.profile.profiles import ArrayProfile, TargetKind
from stethoscope.types import TensorSpec

Array = npt.NDArray[Any]
MAX_CLASSES = 1_000
FEW = 20
"""Whole numbers with at most this many different values are taken for classes, if they repeat."""
SUM_TOLERANCE = 1e-3


def has_unit_axis(array: Array, spec: TensorSpec | None) -> bool:
    """Whether the last axis holds one value for each unit of the output; False for one label a row (or position).

    A target of one rank less than the output is a label for each position, as sparse losses take it.
    """
    if array.ndim < 2 or array.shape[-1] == 1:
        return False
    rank = None if spec is None or spec.shape is None else len(spec.shape)
    return rank is None or array.ndim >= rank


def kind_of(array: Array, profile: ArrayProfile, spec: TensorSpec | None) -> TargetKind:
    """Returns the kind of `array`, whose statistics are in `profile`, as labels of the output `spec`."""
    if array.dtype.kind in "US":
        return "text"
    if not array.size or profile.minimum is None or profile.maximum is None:
        return "empty"
    if has_unit_axis(array, spec):
        return _rows(array, profile)
    units = spec.shape[-1] if spec is not None and spec.shape else None
    return _column(array, profile, units)


def row_sums(array: Array) -> tuple[float, float]:
    """Smallest and largest sum over the last axis, over at most 200,000 rows; NaN counts as 0."""
    rows = sample_rows(array.reshape(-1, array.shape[-1]), 200_000)
    sums = np.nan_to_num(rows.astype(np.float64), posinf=0, neginf=0).sum(axis=1)
    return float(sums.min()), float(sums.max())


def _rows(array: Array, profile: ArrayProfile) -> TargetKind:
    if profile.nan or profile.infinite:
        return "continuous"
    low, high = row_sums(array)
    if profile.distinct_values and set(profile.distinct_values) <= {0.0, 1.0}:
        return "one-hot" if low == high == 1 else "multi-hot"
    sums_to_one = abs(low - 1) <= SUM_TOLERANCE and abs(high - 1) <= SUM_TOLERANCE
    if profile.minimum is not None and profile.minimum >= 0 and sums_to_one:
        return "distribution"
    return "continuous"


def _column(array: Array, profile: ArrayProfile, units: int | None) -> TargetKind:
    values = profile.distinct_values
    if len(values) == 2:
        return "binary"
    if not profile.integral or profile.minimum is None or profile.maximum is None:
        return "continuous"
    if units is not None and units > 1:
        return "classes" if profile.maximum - profile.minimum < max(MAX_CLASSES, 4 * units) else "continuous"
    if not values:
        return "continuous"
    repeats = array.size / len(values)
    dense = values[-1] - values[0] == len(values) - 1
    if len(values) == 1 or (len(values) <= FEW and repeats >= 2) or (dense and repeats >= 3) or repeats >= 10:
        return "classes"
    return "continuous"
