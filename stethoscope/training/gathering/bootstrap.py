"""A score with its uncertainty: how it would scatter if other rows had been held back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.evidence.baseline import Score
from stethoscope.training.skill import Scorer

Array = npt.NDArray[Any]
RESAMPLES = 300
MAX_VALUES = 40_000_000
"""Predicted values that are scored over all resamples; beyond it there are fewer of them, at least 40."""


def scored(model: str, scorer: Scorer, truth: Array, predicted: Array, fit_s: float = 0.0) -> Score:
    """Returns the score of predictions on held-out rows with its 95 % interval.

    Source: percentile bootstrap over rows (Efron and Tibshirani, An introduction to the bootstrap, 1993, chapter 13).
    """
    value = scorer.scores([truth], [predicted]).score
    random = np.random.default_rng(0)
    count = int(max(40, min(RESAMPLES, MAX_VALUES // max(1, predicted.size))))
    found = []
    for _ in range(count):
        rows = random.integers(0, len(truth), len(truth))
        found.append(scorer.scores([truth[rows]], [predicted[rows]]).score)
    finite = [item for item in found if math.isfinite(item)]
    low, high = np.percentile(finite, [2.5, 97.5]) if finite else (value, value)
    return Score(model, float(value), float(min(low, value)), float(max(high, value)), fit_s)
