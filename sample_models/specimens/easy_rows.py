"""Small data that a sound network learns: groups of points, and pictures with a bright quarter."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]


def groups(rows: int = 240, columns: int = 8, classes: int = 3, seed: int = 0) -> Arrays:
    """Standardised points around one centre for each class, shuffled: x (rows, columns), y class numbers (rows,)."""
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(rows) % classes)
    x = random.normal(size=(classes, columns))[y] * 1.5 + random.normal(size=(rows, columns)) * 0.7
    return {"x": ((x - x.mean(0)) / x.std(0)).astype("float32"), "y": y.astype("int64")}


def pictures(rows: int = 160, size: int = 16, seed: int = 0) -> Arrays:
    """Noise in 0 … 1 with one bright quarter: x (rows, size, size, 1), y its number (rows,)."""
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(rows) % 4)
    x = random.uniform(0, 0.5, size=(rows, size, size, 1))
    half = size // 2
    for row, quarter in enumerate(y):
        top, left = half * (quarter // 2), half * (quarter % 2)
        x[row, top : top + half, left : left + half] += 0.5
    return {"x": x.astype("float32"), "y": y.astype("int64")}


def waves(rows: int = 160, steps: int = 12, seed: int = 0) -> Arrays:
    """Sines of random phase: x (rows, steps, 1), y the next value (rows, 1)."""
    random = np.random.default_rng(seed)
    phase = random.uniform(0, 6.28, size=(rows, 1))
    series = np.sin(phase + np.arange(steps + 1) * 0.5)
    return {"x": series[:, :-1, None].astype("float32"), "y": series[:, -1:].astype("float32")}
