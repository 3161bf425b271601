"""How right each prediction is, by what its label is: a class, several labels, a class for each position, or a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Numbers = npt.NDArray[np.float64]
Measure = Literal["accuracy", "share of labels right", "share of positions right", "mean absolute error"]


@dataclass(frozen=True)
class RowScores:
    """What each row scores; the mean is the model's score by `measure`."""

    measure: Measure
    values: Numbers
    """(rows that have one,): 1 or 0 for classes, a share, or the row's mean absolute error."""
    rows: npt.NDArray[np.int64]
    """Which of the rows they are of."""

    @property
    def whole(self) -> bool:
        """Whether a row is right or wrong, and nothing between."""
        return self.measure == "accuracy"

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher score is a better one."""
        return self.measure != "mean absolute error"


def row_scores(predictions: Array, labels: Array) -> RowScores | None:
    """Scores predictions row by row; None where the labels fit no reading of them.

    A prediction that is not finite is wrong; a row of numbers with one has no score. Probabilities and logits are told apart by
    their values.

    Args:
        predictions: (rows, …) as the model gives them.
        labels: (rows, …): class numbers, one-hot or multi-hot rows, or numbers.
    """
    if len(predictions) != len(labels) or not len(labels):
        return None
    if predictions.dtype.kind not in "fiub" or labels.dtype.kind not in "fiub":
        return None
    truth = labels.astype(np.float64)
    said = predictions.astype(np.float64)
    said = said[:, None] if said.ndim == 1 else said
    width = said.shape[-1]
    known: npt.NDArray[np.bool_] = np.asarray(np.isfinite(truth.reshape(len(truth), -1)).all(axis=1))
    if width > 1 and truth.shape == said.shape:
        return _rows_of_labels(said, truth, known)
    if truth.shape == (*said.shape[:-1], 1):
        truth = truth[..., 0]
    if truth.shape != said.shape[:-1]:
        return _errors(said, truth, known) if truth.size == said.size else None
    if width > 1:
        return _classes(said.argmax(axis=-1), truth, known) if _whole(truth, 0, width - 1) else None
    if _whole(truth, 0, 1) or set(np.unique(truth[np.isfinite(truth)]).tolist()) <= {-1.0, 1.0}:
        low = float(np.nanmin(truth))
        higher = said[..., 0] > (0.5 if low >= 0 and _bounded(said) else 0.0)
        return _classes(np.where(higher, 1.0, low if low < 0 else 0.0), truth, known)
    return _errors(said[..., 0], truth, known)


def _whole(truth: Numbers, low: float, high: float) -> bool:
    values = truth[np.isfinite(truth)]
    return bool(values.size and np.all(values == np.rint(values)) and values.min() >= low and values.max() <= high)


def _bounded(said: Numbers) -> bool:
    values = said[np.isfinite(said)]
    return bool(not values.size or (values.min() >= -1e-6 and values.max() <= 1 + 1e-6))


def _classes(said: Array, truth: Numbers, known: npt.NDArray[np.bool_]) -> RowScores:
    rows = np.flatnonzero(known)
    right = (said == truth)[rows].astype(np.float64)
    if right.ndim == 1:
        return RowScores("accuracy", right, rows)
    return RowScores("share of positions right", right.reshape(len(right), -1).mean(axis=1), rows)


def _rows_of_labels(said: Numbers, truth: Numbers, known: npt.NDArray[np.bool_]) -> RowScores:
    """Labels with a value for each unit: one-hot, shares that add up to 1, multi-hot, or numbers."""
    values = truth[known]
    if values.size and values.min() >= 0 and bool(np.allclose(values.sum(axis=-1), 1, atol=1e-3)):
        return _classes(said.argmax(axis=-1), truth.argmax(axis=-1).astype(np.float64), known)
    if said.ndim == 2 and _whole(truth, 0, 1):
        rows = np.flatnonzero(known)
        higher = said > (0.5 if _bounded(said) else 0.0)
        return RowScores("share of labels right", (higher == (truth == 1))[rows].mean(axis=1), rows)
    return _errors(said, truth, known)


def _errors(said: Numbers, truth: Numbers, known: npt.NDArray[np.bool_]) -> RowScores:
    flat = said.reshape(len(said), -1)
    rows = np.flatnonzero(known & np.isfinite(flat).all(axis=1))
    gap = np.abs(flat[rows] - truth.reshape(len(truth), -1)[rows])
    return RowScores("mean absolute error", gap.mean(axis=1) if gap.size else np.zeros(len(rows)), rows)


def signed(value: float) -> str:
    """A change of a score with three decimals and its sign; what rounds to nothing has none below zero."""
    return f"{round(value, 3) + 0.0:+.3f}".replace("-", "−")
