"""Doubtful labels as an answer: rows, classes by name, which class is taken for which, and whose predictions say so."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.evidence.label_doubts import label_doubts

MOST_DOUBTS = 500
_MOST_PAIRS, _LEAST_ROWS = 30, 10


@dataclass(frozen=True)
class Doubt:
    """A row whose label another class beats; classes by name."""

    place: int
    given: str
    predicted: str
    probability_given: float
    probability_predicted: float
    margin: float
    """Probability of the given label less that of the best other class: −1 … 0."""


@dataclass(frozen=True)
class DoubtedClass:
    """One class: rows labelled with it, and how many of them are doubted."""

    name: str
    rows: int
    doubts: int
    threshold: float
    """Mean probability of the class over the rows labelled with it; NaN without such rows."""


@dataclass(frozen=True)
class DoubtedPair:
    """How many rows are labelled `given` and predicted `predicted`."""

    given: str
    predicted: str
    count: int


@dataclass(frozen=True)
class JudgedLabels:
    """Doubtful labels, the most doubtful first; nothing but `why_not` where doubts cannot be told."""

    possible: bool
    why_not: str = ""
    rows: int = 0
    """That were judged,"""
    of: int = 0
    """of those in the data."""
    left_out: int = 0
    """Rows that could not be read."""
    output: str = ""
    scores: Literal["probabilities", "logits"] = "probabilities"
    """What the model yields."""
    by: Literal["model", "cross-validation"] = "model"
    """Whose predictions speak against labels: the model's, or those of simple models that have not seen the row."""
    count: int = 0
    """All doubts; the most doubtful `MOST_DOUBTS` are in `doubts`."""
    expected_right: float = 0.0
    """Doubted labels that would be right if the probabilities were calibrated."""
    accuracy: float = math.nan
    doubts: tuple[Doubt, ...] = ()
    classes: tuple[DoubtedClass, ...] = ()
    pairs: tuple[DoubtedPair, ...] = ()


def judged_labels(
    places: npt.NDArray[Any],
    probabilities: npt.NDArray[np.float64],
    given: npt.NDArray[np.int64],
    names: Sequence[str],
    *,
    rows: int,
    left_out: int,
    output: str,
    scores: Literal["probabilities", "logits"],
    by: Literal["model", "cross-validation"] = "model",
) -> JudgedLabels:
    """What probabilities say against labels.

    Args:
        places: of the rows in the data.
        probabilities: (rows, classes).
        given: (rows,): class numbers.
        names: of the classes.
        rows: in the data.
        left_out: rows that could not be read.
        output: of the model that is judged.
        scores: what it yields.
        by: whose predictions they are.
    """
    if len(given) < _LEAST_ROWS:
        return JudgedLabels(
            possible=False,
            why_not=f"Only {len(given)} rows have a label: too few to tell a doubtful one from others.",
            by=by,
        )
    judged = label_doubts(probabilities, given)
    pairs = Counter(zip(given[judged.rows].tolist(), judged.predicted.tolist(), strict=True))
    doubted = np.bincount(given[judged.rows], minlength=len(names))
    return JudgedLabels(
        possible=True,
        rows=len(given),
        of=rows,
        left_out=left_out,
        output=output,
        scores=scores,
        by=by,
        count=len(judged.rows),
        expected_right=judged.expected_right,
        accuracy=judged.accuracy,
        doubts=tuple(
            Doubt(
                place=int(places[row]),
                given=names[int(given[row])],
                predicted=names[int(other)],
                probability_given=float(probabilities[row, given[row]]),
                probability_predicted=float(probabilities[row, other]),
                margin=float(margin),
            )
            for row, other, margin in zip(judged.rows[:MOST_DOUBTS], judged.predicted, judged.margin, strict=False)
        ),
        classes=tuple(
            DoubtedClass(name, int(count), int(number), float(threshold))
            for name, count, number, threshold in zip(names, judged.counts, doubted, judged.thresholds, strict=True)
        ),
        pairs=tuple(
            DoubtedPair(names[first], names[second], count) for (first, second), count in pairs.most_common(_MOST_PAIRS)
        ),
    )
