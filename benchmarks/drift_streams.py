"""Simulated streams of data: what has drifted in them is known, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Table = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Stream:
    """`sizes` are the amounts of drift tried; `made` draws one side of `rows` rows with an amount, 0 for none."""

    id: str
    sizes: tuple[float, float]
    drifting: int
    """How many of its columns drift; 0 where only how they go together does."""
    made: Callable[[np.random.Generator, int, float], Table]


def _normal(columns: int, drifting: int) -> Callable[[np.random.Generator, int, float], Table]:
    def made(generator: np.random.Generator, rows: int, size: float) -> Table:
        return {f"c{at}": generator.normal(size * (at < drifting), 1, rows) for at in range(columns)}

    return made


def _variance(generator: np.random.Generator, rows: int, size: float) -> Table:
    return {f"c{at}": generator.normal(0, 1 + size, rows) for at in range(5)}


def _tail(generator: np.random.Generator, rows: int, size: float) -> Table:
    """A share `size` of the values is three times as far out."""
    return {
        f"c{at}": generator.normal(0, 1, rows) * np.where(generator.random(rows) < size, 3.0, 1.0) for at in range(5)
    }


def _mix(generator: np.random.Generator, rows: int, size: float) -> Table:
    shares = np.array([0.4 - size, 0.3, 0.2, 0.1 + size])
    return {f"c{at}": generator.choice(np.array(list("abcd")), rows, p=shares) for at in range(5)}


def _correlation(generator: np.random.Generator, rows: int, size: float) -> Table:
    common = generator.normal(size=rows)
    return {f"c{at}": np.sqrt(size) * common + np.sqrt(1 - size) * generator.normal(size=rows) for at in range(5)}


def _discretised(generator: np.random.Generator, rows: int, size: float) -> Table:
    return {f"c{at}": np.clip(np.rint(generator.normal(size, 1, rows)), -3, 3) for at in range(5)}


def _missing(generator: np.random.Generator, rows: int, size: float) -> Table:
    return {
        f"c{at}": np.where(generator.random(rows) < 0.02 + size, np.nan, generator.normal(size=rows)) for at in range(5)
    }


STREAMS = (
    Stream("mean", (0.1, 0.3), 5, _normal(5, 5)),
    Stream("variance", (0.15, 0.4), 5, _variance),
    Stream("tail", (0.05, 0.15), 5, _tail),
    Stream("category_mix", (0.05, 0.12), 5, _mix),
    Stream("correlation", (0.3, 0.7), 0, _correlation),
    Stream("one_of_20", (0.2, 0.5), 1, _normal(20, 1)),
    Stream("discretised", (0.1, 0.3), 5, _discretised),
    Stream("missing_rate", (0.03, 0.1), 5, _missing),
)
