"""From gradients where an input becomes numbers (itself, or its embeddings) to one value for each part of the input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.method import Point, Question, Slope, Subject
from stethoscope.errors import CannotRun


def slope_at_input(subject: Subject, question: Question) -> tuple[list[Point], Slope]:
    """Points of the explained input, and the slope at the row as it is.

    Raises:
        CannotRun: there is no gradient.
    """
    if subject.no_gradients:
        raise CannotRun(f"{subject.name}: {subject.no_gradients} Occlusion works for any model.")
    points = subject.points(question.feed, question.name)
    return points, subject.slope(question.feed, question.target, points, {})


def folded(question: Question, shares: Mapping[Point, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Sums what belongs to one part of the input: a token's numbers in its embedding, several embeddings of one input.

    Args:
        question: tells the input's shape.
        shares: attributions at each point, of one row: (…).
    """
    wanted = question.row.shape[1:]
    total = np.zeros(wanted, np.float64)
    for share in shares.values():
        if share.shape == wanted:
            total += share
        elif share.shape[: len(wanted)] == wanted:
            total += share.reshape(*wanted, -1).sum(axis=-1)
        else:
            total += share.sum() / max(1, total.size)
    return total
