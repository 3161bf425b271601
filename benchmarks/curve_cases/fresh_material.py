"""Rows that neither the dev cases nor the held-out ones use."""

from __future__ import annotations

import numpy as np

from benchmarks.curve_cases.material import BINARY, CLASSES, VALUES, Material, split


def iris(seed: int) -> Material:
    """150 flowers of three kinds, four columns."""
    from sklearn.datasets import load_iris

    return split(*load_iris(return_X_y=True), CLASSES, seed)


def shells(seed: int, rows: int = 2000) -> Material:
    """Four nested shells in five dimensions: a straight line tells nothing."""
    from sklearn.datasets import make_gaussian_quantiles

    return split(*make_gaussian_quantiles(n_samples=rows, n_features=5, n_classes=4, random_state=seed), CLASSES, seed)


def herds(seed: int, rows: int = 1800) -> Material:
    """Three round clouds in three dimensions that overlap much."""
    from sklearn.datasets import make_blobs

    x, y, *_ = make_blobs(rows, 3, centers=[[0, 0, 0], [3, 0, 2], [0, 3, -2]], cluster_std=2.0, random_state=seed)
    return split(x, y, CLASSES, seed)


def ball(seed: int, rows: int = 8000) -> Material:
    """Whether ten normal numbers lie outside a ball (Hastie et al., Elements of Statistical Learning, 10.2)."""
    from sklearn.datasets import make_hastie_10_2

    x, y = make_hastie_10_2(rows, random_state=seed)
    return split(x, (y > 0).astype(int), BINARY, seed)


def roll(seed: int, rows: int = 1500, noise: float = 0.3) -> Material:
    """How far along a rolled-up sheet a point in space lies."""
    from sklearn.datasets import make_swiss_roll

    return split(*make_swiss_roll(rows, noise=noise, random_state=seed), VALUES, seed)


def impedance(seed: int, rows: int = 1600, noise: float = 40.0) -> Material:
    """Friedman's second function: the impedance of a circuit from its four parts."""
    from sklearn.datasets import make_friedman2

    return split(*make_friedman2(rows, noise=noise, random_state=seed), VALUES, seed)


def figures(seed: int, rows: int = 1500, noise: float = 0.6) -> Material:
    """Pictures of 14 × 14 with a disc, a square, a cross or a ring somewhere."""
    random = np.random.default_rng(seed)
    x = random.normal(0, noise, (rows, 14, 14, 1))
    y = random.integers(0, 4, rows)
    down, along = np.mgrid[0:14, 0:14]
    for row, kind in enumerate(y):
        high, wide = random.integers(4, 10, 2)
        far = np.hypot(down - high, along - wide)
        box = np.maximum(abs(down - high), abs(along - wide))
        arm = np.minimum(abs(down - high), abs(along - wide))
        x[row, (far <= 3, box <= 2, (arm == 0) & (box <= 3), (far > 2) & (far <= 3.2))[kind], 0] += 1.2
    return split(x, y, CLASSES, seed, scale=False)


def tones(seed: int, rows: int = 1500, length: int = 32, noise: float = 0.4) -> Material:
    """Sine, square or saw waves of any pitch and phase, in noise."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, rows)
    phase = random.uniform(0, 1, (rows, 1)) + random.uniform(1.5, 4, (rows, 1)) * np.linspace(0, 1, length)
    forms = np.stack([np.sin(2 * np.pi * phase), np.sign(np.sin(2 * np.pi * phase)), 2 * (phase % 1) - 1])
    x = forms[y, np.arange(rows)] + random.normal(0, noise, (rows, length))
    return split(x[..., None], y, CLASSES, seed, scale=False)
