"""Real data that scikit-learn ships, and one made-up corpus; everything split and scaled the same way each time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sample_models.recipe import SEED

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int32]


class Split(NamedTuple):
    """Training and held-out rows. The held-out rows never touch training."""

    x_train: npt.NDArray[Any]
    y_train: npt.NDArray[Any]
    x_test: npt.NDArray[Any]
    y_test: npt.NDArray[Any]


class Pairs(NamedTuple):
    """Two images each of shape (n, 8, 8, 1), whether they show the same digit, and the sum of the digits."""

    left: Floats
    right: Floats
    same: Floats
    total: Floats


def digits() -> Split:
    """Handwritten digits: images of shape (n, 8, 8, 1) from 0 to 1, labels 0 to 9; one in four held out.

    Source: UCI "Optical Recognition of Handwritten Digits", as in `sklearn.datasets.load_digits`.
    """
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return _split((images / 16.0).astype(np.float32).reshape(-1, 8, 8, 1), labels.astype(np.int32))


def digit_pairs(count: int, *, held_out: bool = False) -> Pairs:
    """Pairs of digit images, half of them showing the same digit."""
    split, generator = digits(), np.random.default_rng(SEED)
    x, y = (split.x_test, split.y_test) if held_out else (split.x_train, split.y_train)
    by_digit = [np.flatnonzero(y == digit) for digit in range(10)]
    first = generator.integers(0, len(x), count)
    second = np.array(
        [
            generator.choice(by_digit[y[index]]) if position % 2 else generator.integers(0, len(x))
            for position, index in enumerate(first)
        ]
    )
    same = (y[first] == y[second]).astype(np.float32).reshape(-1, 1)
    total = (y[first] + y[second]).astype(np.float32).reshape(-1, 1)
    return Pairs(x[first], x[second], same, total)


def table(name: str) -> Split:
    """A small real table ("breast_cancer", "wine" or "diabetes"), columns standardised by the training rows.

    Source: the UCI and NCSU data sets in `sklearn.datasets`.
    """
    from sklearn import datasets

    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    split = _split(x, y)
    mean, deviation = split.x_train.mean(axis=0), split.x_train.std(axis=0)
    return Split(
        ((split.x_train - mean) / deviation).astype(np.float32),
        split.y_train,
        ((split.x_test - mean) / deviation).astype(np.float32),
        split.y_test,
    )


def reviews(count: int, vocabulary: int = 1000, longest: int = 40) -> tuple[Integers, Floats]:
    """Made-up reviews: token ids of shape (count, longest), padded with 0, and whether praise outweighs complaint.

    Ids 1–99 are praise, 100–198 complaint, the rest neutral.
    """
    generator = np.random.default_rng(SEED)
    tokens = generator.integers(199, vocabulary, (count, longest))
    verdict = generator.integers(0, 2, count)
    for row, positive in enumerate(verdict):
        length = generator.integers(12, longest + 1)
        places = generator.permutation(length)
        more, fewer = np.split(places[:8], [6])
        tokens[row, more] = generator.integers(1, 100, len(more)) + (0 if positive else 99)
        tokens[row, fewer] = generator.integers(1, 100, len(fewer)) + (99 if positive else 0)
        tokens[row, length:] = 0
    return tokens.astype(np.int32), verdict.astype(np.float32).reshape(-1, 1)


def _split(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> Split:
    order = np.random.default_rng(SEED).permutation(len(x))
    x, y = x[order], y[order]
    edge = len(x) * 3 // 4
    return Split(x[:edge], y[:edge], x[edge:], y[edge:])
