"""Rows for the networks of `unmet_models`: pictures, signals, words, tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

ROWS = 16
Rows = Mapping[str, "npt.NDArray[Any]"]


def picture_rows(size: int, channels: int = 3, name: str = "image") -> Callable[[np.random.Generator], Rows]:
    """Smooth pictures with noise, 0 … 255."""

    def made(random: np.random.Generator) -> Rows:
        coarse = random.random((ROWS, size // 4, size // 4, channels)).repeat(4, 1).repeat(4, 2)
        fine = 0.8 * coarse + 0.2 * random.random((ROWS, size, size, channels))
        return {name: (255 * fine).astype(np.float32)}

    return made


def signal_rows(random: np.random.Generator) -> Rows:
    """Two channels that wander, 64 steps."""
    return {"signal": random.standard_normal((ROWS, 64, 2)).cumsum(axis=1).astype(np.float32) * np.float32(0.2)}


def word_rows(random: np.random.Generator) -> Rows:
    """18 numbers of words."""
    return {"words": random.integers(1, 60, (ROWS, 18)).astype(np.int32)}


def table_rows(random: np.random.Generator) -> Rows:
    """Six numbers of very different sizes, four flags."""
    sizes = np.array([1, 50, 0.1, 5, 300, 2])
    return {
        "numbers": (sizes * (random.standard_normal((ROWS, 6)) + 1)).astype(np.float32),
        "flags": random.integers(0, 2, (ROWS, 4)).astype(np.float32),
    }


def two_picture_rows(random: np.random.Generator) -> Rows:
    """Two grey pictures."""
    make = picture_rows(20, 1)
    return {"left": make(random)["image"], "right": make(random)["image"]}
