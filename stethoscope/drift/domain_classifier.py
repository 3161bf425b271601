"""Can a classifier tell reference rows from current ones it has not seen? Where it can, they have drifted, and it says by what.

Maximum mean discrepancy: do two clouds of points come from one distribution, whatever way they differ?
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stethoscope.drift.corrections import drawn_p_value

MOST_ROWS_EMBEDDED = 1_000
"""Of each side: what is compared is every point with every other."""
PERMUTATIONS, MOST_PERMUTATIONS, ENOUGH = 499, 9_999, 25
"""Permutations drawn where nobody says how many, and at most; drawing ends once so many of them reach the statistic."""
_AT_ONCE = 50


@dataclass(frozen=True)
class Discrepancy:
    """`statistic` is the squared discrepancy (V-statistic); `bandwidth` the kernel's width."""

    statistic: float
    p_value: float
    bandwidth: float
    reference: int
    current: int


def discrepancy(reference: Matrix, current: Matrix, seed: int = 0, permutations: int = PERMUTATIONS) -> Discrepancy:
    """Tests with a Gaussian kernel of the median distance, by permuting which side a row is of: exact at any size.

    Args:
        reference: (rows, columns), scaled by both sides together.
        current: the same columns.
        seed: of the rows taken where there are more than `MOST_ROWS`, and of the permutations.
        permutations: drawn at most; the smallest p-value there can be is one in so many and one.

    Source: Gretton et al., "A Kernel Two-Sample Test", JMLR 13 (2012), equation 5.
    """
    generator = np.random.default_rng(seed)
    sides = [
        side
        if len(side) <= MOST_ROWS_EMBEDDED
        else side[np.sort(generator.choice(len(side), MOST_ROWS_EMBEDDED, replace=False))]
        for side in (reference, current)
    ]
    first, both = len(sides[0]), np.concatenate(sides).astype(np.float32)
    squares = (both**2).sum(axis=1)
    apart = np.maximum(squares[:, None] + squares[None, :] - 2 * both @ both.T, 0)
    upper = apart[np.triu_indices(len(both), 1)]
    width = float(np.median(upper[upper > 0])) if (upper > 0).any() else 1.0
    kernel = np.exp(-apart / width)
    # With weights 1/n on one side and −1/m on the other the statistic is wᵀ K w.
    weights = np.full(len(both), -1 / len(sides[1]), np.float32)
    weights[:first] = 1 / first
    statistic = float(weights @ kernel @ weights)
    p_value = _p_value(kernel, weights, statistic * (1 - 1e-6), permutations, generator)
    return Discrepancy(statistic, p_value, float(np.sqrt(width / 2)), first, len(sides[1]))


def _p_value(
    kernel: npt.NDArray[np.float32],
    weights: npt.NDArray[np.float32],
    statistic: float,
    permutations: int,
    generator: np.random.Generator,
) -> float:
    def reaches(count: int) -> npt.NDArray[np.bool_]:
        drawings = generator.permuted(np.tile(weights, (count, 1)), axis=1)
        found: npt.NDArray[np.bool_] = np.einsum("ij,ij->i", drawings @ kernel, drawings) >= statistic
        return found

    return drawn_p_value(reaches, permutations, _AT_ONCE, ENOUGH)


Matrix = npt.NDArray[np.float64]

MOST_ROWS = 4_000
"""Of each side."""
MOST_COLUMNS = 256
_SETTINGS = {"max_iter": 60, "learning_rate": 0.1, "max_leaf_nodes": 8, "min_samples_leaf": 10, "early_stopping": False}
_MOST_TOLD = 10


@dataclass(frozen=True)
class Told:
    """How well the sides are told apart on held-out rows."""

    auc: float
    """Area under the ROC curve: 0.5 as by chance, 1 always."""
    low: float
    high: float
    """Its 95 % interval."""
    p_value: float
    fields: tuple[tuple[str, float], ...]
    """Fields by what the area loses when theirs are shuffled, the most first."""
    train: int
    test: int


def told_apart(reference: Matrix, current: Matrix, fields: Sequence[str], seed: int = 0) -> Told:
    """Trains gradient-boosted trees on a random half of both sides, and tests them on the other half.

    The p-value is that of the Mann–Whitney test of the scores on the held-out half: given the training half these are
    independent of it, so the test is as exact as that one, whatever the classifier. Averages over several folds are not:
    their folds depend on each other.

    Args:
        reference: (rows, columns).
        current: the same columns.
        fields: what each column is of.
        seed: of the halves.

    Source: Lopez-Paz and Oquab, "Revisiting Classifier Two-Sample Tests", ICLR 2017; interval: Hanley and McNeil, Radiology 143
    (1982).
    """
    from scipy.stats import mannwhitneyu
    from sklearn.ensemble import HistGradientBoostingClassifier

    generator = np.random.default_rng(seed)
    names = np.array(list(fields))
    columns = np.arange(reference.shape[1])
    if len(columns) > MOST_COLUMNS:
        columns = np.sort(generator.choice(columns, MOST_COLUMNS, replace=False))
    halves = [_halves(side[:, columns], generator) for side in (reference, current)]
    train = np.concatenate([halves[0][0], halves[1][0]])
    classifier = HistGradientBoostingClassifier(random_state=0, **_SETTINGS)
    sides_of_train = np.repeat([0, 1], [len(half[0]) for half in halves])
    classifier.fit(train, sides_of_train)
    sides = [np.asarray(classifier.decision_function(half[1])) for half in halves]
    auc = _area(sides[0], sides[1])
    p_value = (
        float(mannwhitneyu(sides[1], sides[0], alternative="greater").pvalue) if np.ptp(np.concatenate(sides)) else 1.0
    )
    spread = _standard_error(auc, len(sides[1]), len(sides[0]))
    shares = []
    if auc > 0.5 and p_value < 0.05:
        for name in dict.fromkeys(names[columns].tolist()):
            own = np.flatnonzero(names[columns] == name)
            shuffled = [_area(*_without(classifier, [half[1] for half in halves], own, generator)) for _ in range(3)]
            shares.append((str(name), auc - float(np.mean(shuffled))))
    shares.sort(key=lambda one: -one[1])
    return Told(
        auc,
        max(0.0, auc - 1.96 * spread),
        min(1.0, auc + 1.96 * spread),
        p_value,
        tuple(shares[:_MOST_TOLD]),
        len(train),
        sum(map(len, sides)),
    )


def _halves(side: Matrix, generator: np.random.Generator) -> tuple[Matrix, Matrix]:
    order = generator.permutation(len(side))[:MOST_ROWS]
    middle = len(order) // 2
    return side[order[:middle]], side[order[middle:]]


def _area(low: Matrix, high: Matrix) -> float:
    """P(a score of `high` is above one of `low`), ties counted half."""
    order = np.sort(low)
    below = np.searchsorted(order, high, side="left") + np.searchsorted(order, high, side="right")
    return float(below.mean() / (2 * len(low)))


def _without(
    classifier: object, halves: Sequence[Matrix], columns: npt.NDArray[np.int64], generator: np.random.Generator
) -> tuple[Matrix, Matrix]:
    both = np.concatenate(halves)
    both[:, columns] = both[generator.permutation(len(both))][:, columns]
    scores = np.asarray(classifier.decision_function(both))  # type: ignore[attr-defined]
    return scores[: len(halves[0])], scores[len(halves[0]) :]


def _standard_error(auc: float, positive: int, negative: int) -> float:
    first, second = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    spread = auc * (1 - auc) + (positive - 1) * (first - auc**2) + (negative - 1) * (second - auc**2)
    return math.sqrt(max(0.0, spread) / (positive * negative))
