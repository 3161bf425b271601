"""Data for the cases: what scikit-learn ships, and made-up rows that resemble what a program had."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Random = np.random.Generator


def one_hot(labels: Array, classes: int) -> Array:
    """Labels of shape (n,) as (n, classes)."""
    rows: Array = np.eye(classes, dtype="float32")[labels.astype(int)]
    return rows


def standardised(x: Array) -> Array:
    """Columns with mean 0 and standard deviation 1; constant columns become 0."""
    spread = x.std(axis=0)
    scaled: Array = ((x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)).astype("float32")
    return scaled


def shuffled(random: Random, *arrays: Array) -> tuple[Array, ...]:
    """The arrays in one random order of their rows."""
    order = random.permutation(len(arrays[0]))
    return tuple(array[order] for array in arrays)


def digits(random: Random, rows: int) -> tuple[Array, Array]:
    """Handwritten digits like MNIST: x of shape (rows, 28, 28) from 0 to 255, labels 0 to 9.

    Source: UCI "Optical Recognition of Handwritten Digits" in scikit-learn, 8 by 8, enlarged, moved and with noise.
    """
    from scipy.ndimage import zoom
    from sklearn.datasets import load_digits

    bunch = load_digits()
    chosen = random.integers(0, len(bunch.target), rows)
    large = zoom(bunch.images / 16.0, (1, 2.5, 2.5), order=1)[chosen]
    x = np.zeros((rows, 28, 28), "float32")
    corners = random.integers(2, 7, (rows, 2))
    for image, source, (top, left) in zip(x, large, corners, strict=True):
        image[top : top + 20, left : left + 20] = source
    x = np.where(x > 0.05, x + random.normal(0, 0.08, x.shape), x)
    return (x.clip(0, 1) * 255).round().astype("float32"), bunch.target[chosen].astype("int64")


def images(random: Random, rows: int, size: int, classes: int) -> tuple[Array, Array]:
    """Coloured images like CIFAR-10: x of shape (rows, size, size, 3) from 0 to 255; class in tint and stripe."""
    labels = np.arange(rows) % classes
    fixed = np.random.default_rng(7)
    tints, angles = fixed.uniform(70, 185, (classes, 3)), np.arange(classes) * np.pi / classes
    down, across = np.mgrid[0:size, 0:size] / size
    phase = random.uniform(0, 2 * np.pi, rows)[:, None, None]
    wave = np.sin(
        2 * np.pi * 3 * (np.cos(angles)[labels, None, None] * across + np.sin(angles)[labels, None, None] * down)
        + phase
    )
    x = tints[labels][:, None, None, :] + 35 * wave[..., None] + random.normal(0, 35, (rows, size, size, 3))
    x += random.normal(0, 25, (rows, 1, 1, 3))
    return shuffled(random, x.clip(0, 255).round().astype("float32"), labels.astype("int64"))  # type: ignore[return-value]


def drawings(random: Random, each: int, classes: int) -> tuple[Array, Array]:
    """Noisy drawings of shape (n, 28, 28, 1) from 0 to 1, in the order of their classes, like files read by folder."""
    down, across = np.mgrid[0:28, 0:28]
    x = np.zeros((each * classes, 28, 28), "float32")
    for row in range(len(x)):
        middle, radius = random.uniform(10, 18, 2), random.uniform(5, 9)
        dy, dx = down - middle[0], across - middle[1]
        square, cross = np.maximum(abs(dy), abs(dx)), np.minimum(abs(dy), abs(dx))
        shapes = (
            abs(np.hypot(dy, dx) - radius) < 1.3,
            abs(square - radius) < 1.3,
            (cross < 1.3) & (square < radius),
            (abs(abs(dy) - abs(dx)) < 1.6) & (square < radius),
            np.hypot(dy, dx) < radius * 0.7,
        )
        x[row] = shapes[row // each]
    x = (x + random.normal(0, 0.15, x.shape)).clip(0, 1).astype("float32")
    return x[..., None], np.repeat(np.arange(classes), each)


def clusters(random: Random, rows: int, features: int, classes: int, spread: float = 1.0) -> tuple[Array, Array]:
    """Standardised rows, two clusters to a class, so that no line separates them all."""
    fixed = np.random.default_rng(11)
    centres = fixed.normal(0, 2.0, (classes * 2, features))
    source = random.integers(0, len(centres), rows)
    x = centres[source] + random.normal(0, spread, (rows, features))
    return standardised(x), (source % classes).astype("int64")


def moons(random: Random, rows: int) -> tuple[Array, Array]:
    """Two interleaving half circles: x of shape (rows, 2), labels 0 and 1; no line separates them."""
    labels = random.integers(0, 2, rows)
    angle = random.uniform(0, np.pi, rows)
    x = np.stack([np.cos(angle) * (1 - 2 * labels) + labels, np.sin(angle) * (1 - 2 * labels) + 0.5 * labels], 1)
    return standardised(x + random.normal(0, 0.15, x.shape)), labels


def smooth(random: Random, rows: int, features: int = 8) -> tuple[Array, Array]:
    """Standardised rows with a target of mean 0 and standard deviation 1 that is not linear in them."""
    x = random.normal(0, 1, (rows, features))
    y = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + x[:, 3] - 0.5 * x[:, 4] ** 2 + random.normal(0, 0.1, rows)
    return x.astype("float32"), standardised(y)


def houses(random: Random, rows: int) -> tuple[Array, Array]:
    """Raw columns (area, rooms, year, distance in m, income, crime rate) and prices of about 50,000 to 900,000."""
    area, rooms = random.lognormal(7.2, 0.4, rows), random.integers(1, 8, rows)
    year, distance = random.integers(1900, 2016, rows), random.uniform(50, 20_000, rows)
    income, crime = random.lognormal(10.6, 0.4, rows), random.gamma(2, 1.5, rows)
    price = 120 * area + 9_000 * rooms + 900 * (year - 1900) - 4.5 * distance + 1.6 * income - 6_000 * crime + 40_000
    price *= random.lognormal(0, 0.08, rows)
    return np.stack([area, rooms, year, distance, income, crime], 1).astype("float32"), price.clip(20_000).astype(
        "float32"
    )


def customers(random: Random, rows: int) -> tuple[Array, Array]:
    """Raw columns as a bank has them (score, age, balance, salary, …) and whether the customer left (about 1 in 3)."""
    score, age = random.normal(650, 95, rows).clip(350, 850), random.normal(39, 11, rows).clip(18, 90)
    balance = np.where(random.random(rows) < 0.35, 0, random.normal(120_000, 30_000, rows).clip(0))
    salary, products, active = random.uniform(10, 2e5, rows), random.integers(1, 4, rows), random.integers(0, 2, rows)
    logit = 0.11 * (age - 42) + 1.6 * (products - 1.8) ** 2 - 1.8 * active + 9e-6 * balance - 0.004 * (score - 650)
    left = random.random(rows) < 1 / (1 + np.exp(-1.6 * (logit - 0.9)))
    return np.stack([score, age, balance, salary, products, active], 1).astype("float32"), left.astype("int64")


def windows(random: Random, rows: int, steps: int) -> tuple[Array, Array]:
    """Pieces of noisy sine waves of shape (rows, steps, 1) from -1 to 1, and the value that follows, (rows, 1)."""
    start, speed = random.uniform(0, 2 * np.pi, (rows, 1)), random.uniform(0.1, 0.6, (rows, 1))
    wave = np.sin(start + speed * np.arange(steps + 1)) + random.normal(0, 0.03, (rows, steps + 1))
    return wave[:, :-1, None].astype("float32"), wave[:, -1:].astype("float32")


def waves(random: Random, rows: int, steps: int) -> tuple[Array, Array]:
    """Sine (0) against square (1) waves with noise: x of shape (rows, steps, 1)."""
    labels = random.integers(0, 2, rows)
    angle = random.uniform(0, 6, (rows, 1)) + np.arange(steps) * random.uniform(0.1, 0.25, (rows, 1))
    wave = np.where(labels[:, None] == 1, np.sign(np.sin(angle)), np.sin(angle)) + random.normal(0, 0.1, angle.shape)
    return wave[..., None].astype("float32"), labels


def sentences(random: Random, rows: int, words: int, length: int) -> tuple[Array, Array]:
    """Word numbers 1 to words-1 padded with 0, and a label that says whether good words outnumber bad ones."""
    x = random.integers(1, words, (rows, length))
    tenth = words // 10
    labels = random.integers(0, 2, rows)
    for place in range(0, length, 5):
        x[:, place] = random.integers(1, tenth, rows) + labels * tenth
    x = np.concatenate([[0], 1 + np.random.default_rng(13).permutation(words - 1)])[x]
    x[np.arange(length) >= random.integers(length // 2, length + 1, (rows, 1))] = 0
    return x.astype("int32"), labels


def tags(random: Random, rows: int, features: int, labels: int) -> tuple[Array, Array]:
    """Standardised rows, each with none to all of some labels: y of shape (rows, labels)."""
    from sklearn.datasets import make_multilabel_classification

    x, y = make_multilabel_classification(rows, features, n_classes=labels, random_state=int(random.integers(1 << 30)))
    return standardised(x), y.astype("float32")
