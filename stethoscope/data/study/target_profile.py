"""The profile of one output's labels: kind, counts, order, conflicts, and what a single column already tells.

What an array of labels is: two values, classes, one-hot rows, tags, a distribution, real numbers.

What one column of a table already tells about the labels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.study.array_statistics import conflicting, profile_array, row_hashes, sample_rows
from stethoscope.data.study.profiles import ArrayProfile, TargetKind, TargetProfile
from stethoscope.types import Feed, TensorSpec

SAMPLE_ROWS = 2_000
MAX_COLUMNS, FEW_CLASSES = 2_000, 20
PERFECT = 0.999999


def best_column(inputs: Feed, labels: Array, classes: bool) -> tuple[tuple[int, float] | None, int]:
    """Returns ((column, how well it alone tells the labels), number of columns that tell them perfectly).

    Columns of two-dimensional numeric inputs are numbered on, input after input. For classes the score is the accuracy of
    the best cut of the column into one interval a class, on at most 2,000 rows; for numbers |correlation|.
    """
    scores: list[float] = []
    target = sample_rows(labels, SAMPLE_ROWS)
    if target.ndim > 1:
        target = target.reshape(len(target), -1)[:, 0] if target.size == len(target) else target[:0]
    target = target.astype(np.float64) if target.dtype.kind in "iufb" else target[:0]
    if len(target) < 10 or not np.isfinite(target).all() or np.ptp(target) == 0:
        return None, 0
    if classes and target.max() >= FEW_CLASSES:
        return None, 0
    for part in inputs.values():
        if part.ndim != 2 or part.dtype.kind not in "iufb" or part.shape[1] > MAX_COLUMNS:
            return None, 0
        table = sample_rows(part, SAMPLE_ROWS).astype(np.float64)
        table = np.where(np.isfinite(table), table, 0.0)
        scores += _accuracies(table, target.astype(np.int64)) if classes else _correlations(table, target)
    if not scores:
        return None, 0
    best = int(np.argmax(scores))
    return (best, float(scores[best])), sum(score >= PERFECT for score in scores)


def _correlations(table: Array, target: Array) -> list[float]:
    centred = table - table.mean(axis=0)
    wanted = target - target.mean()
    scale = np.sqrt((centred**2).sum(axis=0) * float(wanted @ wanted))
    found = np.abs(centred.T @ wanted) / np.where(scale > 0, scale, 1.0)
    return [float(value) for value in np.where(scale > 0, found, 0.0)]


def _accuracies(table: Array, labels: Array) -> list[float]:
    """For each column, classes in the order of their medians, and the best cut between each two neighbours."""
    count = int(labels.max()) + 1
    found = []
    for column in table.T:
        present = [label for label in range(count) if (labels == label).any()]
        medians = {label: float(np.median(column[labels == label])) for label in present}
        ranked = sorted(present, key=medians.__getitem__)
        place = np.zeros(count, np.int64)
        place[ranked] = np.arange(len(ranked))
        found.append(1.0 - _misplaced(column, place[labels], len(ranked)) / len(labels))
    return found


def _misplaced(column: Array, place: Array, count: int) -> int:
    """The fewest rows on the wrong side of count − 1 cuts, by dynamic programming over the distinct values."""
    values, index = np.unique(column, return_inverse=True)
    tally = np.zeros((len(values), count), np.int64)
    np.add.at(tally, (index, place), 1)
    right = np.vstack([np.zeros(count, np.int64), np.cumsum(tally, axis=0)])
    best = right[:, 0]
    for label in range(1, count):
        best = np.maximum.accumulate(best - right[:, label]) + right[:, label]
    return int(len(column) - best[-1])


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


Array = npt.NDArray[Any]
HASHED_ROWS = 1_000_000


def profile_target(name: str, array: Array, spec: TensorSpec | None, inputs: Feed) -> TargetProfile:
    """Returns the profile of `array`, labels of the output `spec`; `inputs` are the model's inputs, row by row."""
    profile = profile_array(name, array, duplicates=False)
    target = TargetProfile(array=profile, kind=kind_of(array, profile, spec))
    if target.kind == "empty":
        return target
    if has_unit_axis(array, spec) and array.dtype.kind in "iufb":
        low, high = row_sums(array)
        target = replace(target, row_sum_minimum=low, row_sum_maximum=high)
    labels = class_index(array, target)
    if target.kind in ("one-hot", "multi-hot") and array.shape[-1] <= MAX_CLASSES:
        target = replace(target, class_values=tuple(float(index) for index in range(array.shape[-1])))
        target = _counted_columns(target, array)
    elif labels is not None:
        target = _counted(target, array, labels)
    target = _ordered(target, array, labels)
    return _against_inputs(target, array, labels, inputs)


def class_index(array: Array, target: TargetProfile) -> Array | None:
    """The class of each row, 0 … K−1, shape (rows,); None when a row has several labels or none that is a class."""
    if target.kind == "one-hot" and array.ndim == 2:
        found: Array = array.argmax(axis=1)
        return found
    if target.kind in ("binary", "classes", "text") and array.size == len(array):
        flat = array.reshape(-1)
        if flat.dtype.kind == "f" and not np.isfinite(flat).all():
            return None
        values, index = np.unique(flat, return_inverse=True)
        return index if len(values) <= 4 * MAX_CLASSES or target.kind == "classes" else None
    return None


def _counted(target: TargetProfile, array: Array, labels: Array) -> TargetProfile:
    count = int(labels.max()) + 1
    if target.kind != "text":
        values = tuple(float(value) for value in np.unique(array.reshape(-1)))
    else:
        values = tuple(float(index) for index in range(count))
    first = np.full(count, len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    last = np.zeros(count, np.int64)
    np.maximum.at(last, labels, np.arange(len(labels)))
    return replace(
        target,
        class_values=values,
        class_counts=_integers(np.bincount(labels, minlength=count)),
        first_row=_integers(first),
        last_row=_integers(last),
    )


def _counted_columns(target: TargetProfile, array: Array) -> TargetProfile:
    table = array.reshape(-1, array.shape[-1]) > 0
    target = replace(target, class_counts=_integers(table.sum(axis=0)))
    if array.ndim != 2:
        return target
    seen = table.any(axis=0)
    first = np.where(seen, table.argmax(axis=0), -1)
    last = np.where(seen, len(table) - 1 - table[::-1].argmax(axis=0), -1)
    return replace(target, first_row=_integers(first), last_row=_integers(last))


def _ordered(target: TargetProfile, array: Array, labels: Array | None) -> TargetProfile:
    """How far row order and label go together."""
    if len(array) < 3:
        return target
    if labels is not None:
        counts = np.bincount(labels)
        total = len(labels)
        target = replace(
            target,
            neighbour_equality=float((labels[1:] == labels[:-1]).mean()),
            expected_equality=float((counts * (counts - 1.0)).sum() / (total * (total - 1.0))),
        )
    values = labels if labels is not None else _first_column(array)
    if values is None:
        return target
    return replace(target, order_correlation=spearman(np.arange(len(values)), values))


def _first_column(array: Array) -> Array | None:
    if array.dtype.kind not in "iufb":
        return None
    values = array.reshape(len(array), -1)[:, 0].astype(np.float64)
    return values if np.isfinite(values).all() else None


def spearman(one: Array, other: Array) -> float | None:
    """Spearman's rank correlation, ties at their mean rank, over at most 200,000 evenly spaced rows; None if constant."""
    first, second = _ranks(sample_rows(one, 200_000)), _ranks(sample_rows(other, 200_000))
    first -= first.mean()
    second -= second.mean()
    scale = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / scale if scale > 0 else None


def _ranks(values: Array) -> npt.NDArray[np.float64]:
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: npt.NDArray[np.float64] = (ends - (counts - 1) / 2.0)[index]
    return ranks


def _against_inputs(target: TargetProfile, array: Array, labels: Array | None, inputs: Feed) -> TargetProfile:
    rows = {len(part) for part in inputs.values() if part.ndim}
    if not inputs or rows != {len(array)}:
        return target
    hashes = np.zeros(len(sample_rows(array, HASHED_ROWS)), np.uint64)
    for part in inputs.values():
        hashes = hashes * np.uint64(31) + row_hashes(sample_rows(part, HASHED_ROWS))
    conflicts = conflicting(hashes, row_hashes(sample_rows(array, HASHED_ROWS)))
    best, perfect = best_column(inputs, array if labels is None else labels, labels is not None)
    return replace(target, conflicting_duplicates=conflicts, best_single_feature=best, perfect_features=perfect)


def _integers(values: Array) -> tuple[int, ...]:
    return tuple(int(value) for value in values)
