"""Rows to train on: scikit-learn's bundled sets and generated ones, scaled and split, and the ways they get spoilt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

CLASSES, BINARY, VALUES = "classes", "binary", "values"


@dataclass(frozen=True)
class Material:
    """Training rows and held-out rows of one task.

    Attributes:
        x: (rows, …) float32.
        y: (rows,) int32 classes, or float32 values of shape (rows, 1).
        held_x: rows for validation.
        held_y: their targets.
        task: "classes", "binary" or "values".
        classes: how many; 1 for values.
    """

    x: Array
    y: Array
    held_x: Array
    held_y: Array
    task: str
    classes: int


Rows = Callable[[int], Material]
"""Makes the material from a seed."""
Spoil = Callable[[Material, np.random.Generator], Material]


def split(x: Array, y: Array, task: str, seed: int, held: float = 0.25, scale: bool = True) -> Material:
    """Shuffles, splits and, where asked, brings every column to mean 0 and deviation 1 by the training rows."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(x))
    x, y = x[order], y[order]
    cut = round(len(x) * (1 - held))
    if scale:
        mean, deviation = x[:cut].mean(0), x[:cut].std(0)
        x = (x - mean) / np.where(deviation > 0, deviation, 1)
    if task == VALUES:
        middle, spread = y[:cut].mean(), y[:cut].std()
        y = ((y - middle) / spread).reshape(-1, 1).astype(np.float32)
    else:
        y = y.astype(np.int32)
    x = x.astype(np.float32)
    classes = 1 if task == VALUES else int(y.max()) + 1
    return Material(x[:cut], y[:cut], x[cut:], y[cut:], task, classes)


def digits(seed: int, pictures: bool = False, rows: int = 1797) -> Material:
    """1,797 handwritten digits of 8 × 8 pixels, as rows or as pictures of 0 … 1."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    chosen = np.random.default_rng(seed).permutation(len(x))[:rows]
    x = x[chosen] / 16
    return split(x.reshape(-1, 8, 8, 1) if pictures else x, y[chosen], CLASSES, seed, scale=False)


def digit_pictures(seed: int) -> Material:
    """Digits as pictures."""
    return digits(seed, pictures=True)


def wine(seed: int) -> Material:
    """178 wines of three kinds, 13 columns."""
    from sklearn.datasets import load_wine

    return split(*load_wine(return_X_y=True), CLASSES, seed)


def cancer(seed: int) -> Material:
    """569 tumours, benign or not, 30 columns."""
    from sklearn.datasets import load_breast_cancer

    return split(*load_breast_cancer(return_X_y=True), BINARY, seed)


def diabetes(seed: int) -> Material:
    """442 patients; the progression of their disease is hard to tell from 10 columns."""
    from sklearn.datasets import load_diabetes

    return split(*load_diabetes(return_X_y=True), VALUES, seed)


def moons(seed: int, noise: float = 0.15, rows: int = 1600) -> Material:
    """Two half moons; `noise` makes them overlap."""
    from sklearn.datasets import make_moons

    return split(*make_moons(rows, noise=noise, random_state=seed), BINARY, seed)


def circles(seed: int, noise: float = 0.08, rows: int = 1500) -> Material:
    """One ring around another."""
    from sklearn.datasets import make_circles

    return split(*make_circles(rows, noise=noise, factor=0.5, random_state=seed), BINARY, seed)


def clouds(seed: int, rows: int = 2000, columns: int = 20, classes: int = 4, wrong: float = 0.0) -> Material:
    """Clouds of points in `columns` dimensions; a share `wrong` of the labels is drawn at random."""
    from sklearn.datasets import make_classification

    x, y = make_classification(
        rows, columns, n_informative=min(10, columns), n_classes=classes, class_sep=1.6, flip_y=wrong, random_state=seed
    )
    return split(x, y, BINARY if classes == 2 else CLASSES, seed)


def blobs(seed: int, rows: int = 1500, classes: int = 5, spread: float = 2.0) -> Material:
    """Round clouds in eight dimensions."""
    from sklearn.datasets import make_blobs

    x, y, *_ = make_blobs(rows, 8, centers=classes, cluster_std=spread, random_state=seed)
    return split(x, y, CLASSES, seed)


def friedman(seed: int, rows: int = 1500, noise: float = 0.5) -> Material:
    """Friedman's first function of five of ten columns."""
    from sklearn.datasets import make_friedman1

    return split(*make_friedman1(rows, noise=noise, random_state=seed), VALUES, seed)


def linear(seed: int, rows: int = 1200, noise: float = 10.0) -> Material:
    """A linear function of twelve columns, and noise."""
    from sklearn.datasets import make_regression

    x, y = make_regression(rows, 12, n_informative=8, noise=noise, random_state=seed)
    return split(x, y, VALUES, seed)


def waves(seed: int, rows: int = 1200, length: int = 24) -> Material:
    """The next value of a sum of two sines with noise, from the `length` values before it."""
    random = np.random.default_rng(seed)
    time = np.arange(rows + length)
    signal = np.sin(time / 7) + 0.5 * np.sin(time / 3 + random.uniform(0, 6)) + random.normal(0, 0.1, len(time))
    x = np.stack([signal[at : at + length] for at in range(rows)])[..., None]
    return split(x, signal[length:], VALUES, seed, scale=False)


def bars(seed: int, rows: int = 1400, noise: float = 0.5) -> Material:
    """Pictures of 12 × 12 with a bar: lying, standing or slanting."""
    random = np.random.default_rng(seed)
    x = random.normal(0, noise, (rows, 12, 12, 1))
    y = random.integers(0, 3, rows)
    for row, kind in enumerate(y):
        at, along = random.integers(1, 11), np.arange(12)
        places = ((np.full(12, at), along), (along, np.full(12, at)), (along, (along + at) % 12))[kind]
        x[row][places] += 1.5
    return split(x, y, CLASSES, seed, scale=False)


def sentences(seed: int, rows: int = 1400, length: int = 20, words: int = 60) -> Material:
    """Word numbers; the class says whether more of them come from the first third of the vocabulary than from the last."""
    random = np.random.default_rng(seed)
    x = random.integers(0, words, (rows, length))
    y = ((x < words // 3).sum(1) > (x >= words - words // 3).sum(1)).astype(int)
    return split(x.astype(np.float32), y, BINARY, seed, scale=False)


def fewer(rows: int) -> Spoil:
    """Only the first rows are trained on."""
    return lambda given, _: replace(given, x=given.x[:rows], y=given.y[:rows])


def shuffled_labels(share: float = 1.0, held_too: bool = True) -> Spoil:
    """A share of the labels is handed to other rows."""

    def spoil(given: Material, random: np.random.Generator) -> Material:
        def mixed(y: Array) -> Array:
            chosen = np.flatnonzero(random.random(len(y)) < share)
            y = y.copy()
            y[chosen] = y[random.permutation(chosen)]
            return y

        return replace(given, y=mixed(given.y), held_y=mixed(given.held_y) if held_too else given.held_y)

    return spoil


def held_rows_as(factor: float, shift: float = 0.0) -> Spoil:
    """The validation rows are scaled in another way than the training rows."""
    return lambda given, _: replace(given, held_x=given.held_x * np.float32(factor) + np.float32(shift))


def rows_as(factor: float, shift: float = 0.0) -> Spoil:
    """All rows are scaled by a factor."""
    return lambda given, _: replace(
        given,
        x=given.x * np.float32(factor) + np.float32(shift),
        held_x=given.held_x * np.float32(factor) + np.float32(shift),
    )


def held_out_is_easy(share: float = 0.6) -> Spoil:
    """Validation rows are the training rows nearest to the middle of their class: chosen, not drawn."""

    def spoil(given: Material, _: np.random.Generator) -> Material:
        flat = np.concatenate([given.x, given.held_x]).reshape(len(given.x) + len(given.held_x), -1)
        labels = np.concatenate([given.y, given.held_y])
        middles = np.stack([flat[labels == one].mean(0) for one in range(int(labels.max()) + 1)])
        far = np.linalg.norm(flat - middles[labels], axis=1)
        order = np.argsort(far)
        easy, hard = order[: len(given.held_x)], order[len(given.held_x) :]
        both = np.concatenate([given.x, given.held_x])
        return replace(given, x=both[hard], y=labels[hard], held_x=both[easy], held_y=labels[easy])

    return spoil


def noisy_training_rows(deviation: float) -> Spoil:
    """Noise is added to training rows only, as heavy augmentation does."""

    def spoil(given: Material, random: np.random.Generator) -> Material:
        return replace(given, x=given.x + random.normal(0, deviation, given.x.shape).astype(np.float32))

    return spoil


def sorted_rows(given: Material, _: np.random.Generator) -> Material:
    """Training rows come class by class."""
    order = np.argsort(given.y.ravel(), kind="stable")
    return replace(given, x=given.x[order], y=given.y[order])


def one_label(given: Material, _: np.random.Generator) -> Material:
    """A label that was lost on the way: every row has the same one."""
    return replace(given, y=np.zeros_like(given.y), held_y=np.zeros_like(given.held_y))


def with_gap(given: Material, random: np.random.Generator) -> Material:
    """One value of one training row is missing (NaN)."""
    x = given.x.copy()
    x[random.integers(len(x))].flat[0] = np.nan
    return replace(given, x=x)
