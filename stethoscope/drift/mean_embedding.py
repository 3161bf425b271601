"""Maximum mean discrepancy: do two clouds of points come from one distribution, whatever way they differ?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stethoscope.drift.sequential import drawn_p_value

Matrix = npt.NDArray[np.float64]

MOST_ROWS = 1_000
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
        side if len(side) <= MOST_ROWS else side[np.sort(generator.choice(len(side), MOST_ROWS, replace=False))]
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
