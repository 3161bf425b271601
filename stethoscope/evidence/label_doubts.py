"""Labels that a model's predictions speak against: which rows are most likely to be annotated wrongly.

Source: Northcutt, Jiang, Chuang, "Confident Learning: Estimating Uncertainty in Dataset Labels", JAIR 70 (2021),
arXiv:1911.00068: thresholds are the mean self-confidence of each class; a row is doubted where another class passes its own
threshold; doubts are ranked by the normalised margin. Ours: no threshold is above `SURE`, because a model that is right
nearly everywhere would otherwise have to be surer than on average to doubt anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

SURE = 0.9
"""A probability that speaks against a label however sure the model is elsewhere."""


@dataclass(frozen=True)
class LabelDoubts:
    """Doubtful rows, the most doubtful first."""

    rows: Numbers
    """Indices into the rows that were judged."""
    predicted: Numbers
    """The class that passes its threshold by more than the given one, for each of `rows`."""
    margin: Array
    """Probability of the given label less that of the best other class, for each of `rows`: −1 … 0."""
    thresholds: Array
    """Mean probability of a class over the rows labelled with it; NaN for a class without rows."""
    counts: Numbers
    """Rows labelled with each class."""
    expected_right: float
    """How many of the doubted labels would be right if the probabilities were calibrated: the sum of what they give them."""
    accuracy: float
    """Share of the rows whose label is the most probable class."""


def label_doubts(probabilities: Array, given: Numbers) -> LabelDoubts:
    """Finds the rows whose label another class beats confidently.

    Args:
        probabilities: (rows, classes), each row summing to 1.
        given: (rows,) class numbers below `classes`.

    Returns:
        The doubts. Rows with a probability that is not finite are passed over.
    """
    rows, classes = probabilities.shape
    finite = np.isfinite(probabilities).all(axis=1)
    own = probabilities[np.arange(rows), given]
    counts = np.bincount(given[finite], minlength=classes)
    sums = np.bincount(given[finite], weights=own[finite], minlength=classes)
    thresholds = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    # A class that no row is labelled with has no threshold: it never speaks against a label.
    passes = probabilities >= np.where(np.isnan(thresholds), np.inf, np.minimum(thresholds, SURE))
    likely = np.where(passes, probabilities, -1.0).argmax(axis=1)
    doubted = finite & passes.any(axis=1) & (likely != given)
    others = probabilities.copy()
    others[np.arange(rows), given] = -1.0
    margin = own - others.max(axis=1)
    # Where the given label is still the more probable one, a low threshold alone is no reason for doubt.
    found = np.flatnonzero(doubted & (margin < 0))
    order = found[np.argsort(margin[found], kind="stable")]
    right = probabilities[finite].argmax(axis=1) == given[finite]
    return LabelDoubts(
        order.astype(np.int64),
        likely[order].astype(np.int64),
        margin[order],
        thresholds,
        counts.astype(np.int64),
        float(own[order].sum()),
        float(right.mean()) if right.size else float("nan"),
    )


def as_probabilities(outputs: npt.NDArray[np.generic]) -> tuple[Array, Literal["probabilities", "logits"]]:
    """Turns what a classifier yields into probabilities of its classes.

    Args:
        outputs: (rows, classes) probabilities or logits; (rows,) or (rows, 1) the probability or logit of class 1.

    Returns:
        ((rows, classes) float64, "probabilities" | "logits").
    """
    values = outputs.astype(np.float64)
    values = values.reshape(len(values), -1)
    finite = values[np.isfinite(values)]
    bounded = bool(finite.size) and float(finite.min()) >= -1e-6 and float(finite.max()) <= 1 + 1e-6
    if values.shape[1] == 1:
        one = values if bounded else 1.0 / (1.0 + np.exp(-np.clip(values, -700, 700)))
        return np.hstack([1.0 - one, one]), "probabilities" if bounded else "logits"
    sums = values.sum(axis=1)
    if bounded and np.allclose(sums[np.isfinite(sums)], 1.0, atol=0.02):
        return values, "probabilities"
    if bounded:
        # One sigmoid for each class: scores that need not sum to 1.
        return values / np.maximum(sums, 1e-12)[:, None], "probabilities"
    shifted = np.exp(values - values.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True), "logits"
