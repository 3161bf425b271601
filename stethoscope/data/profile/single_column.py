"""What one column of a table already tells about the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.profile.array_statistics import sample_rows
from stethoscope.types import Feed

Array = npt.NDArray[Any]
SAMPLE_ROWS = 2_000
MAX_COLUMNS, MAX_CLASSES = 2_000, 20
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
    if classes and target.max() >= MAX_CLASSES:
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
