"""A sample of values of fixed size in which every value seen so far is equally likely to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

SIZE = 50_000
"""Values kept of one field: their quantiles are within about half a per cent of rank."""


class Reservoir:
    """Keeps `size` of the values it is given.

    Source: algorithm R in batches (Vitter, 1985): value number n replaces a kept one with probability size / n.
    """

    def __init__(self, size: int = SIZE, seed: int = 0) -> None:
        self._kept: npt.NDArray[Any] | None = None
        self._size, self._generator = size, np.random.default_rng(seed)
        self.seen = 0

    def add(self, values: npt.NDArray[Any]) -> None:
        """Shows it more values, along the first dimension."""
        if not len(values):
            return
        if self._kept is None:
            self._kept = np.empty((0, *values.shape[1:]), values.dtype)
        free = self._size - len(self._kept)
        if free > 0:
            self._kept = np.concatenate([self._kept, values[:free]])
            self.seen += min(free, len(values))
            values = values[free:]
        if len(values):
            numbers = self.seen + 1 + np.arange(len(values))
            places = (self._generator.random(len(values)) * numbers).astype(np.int64)
            chosen = places < self._size
            self._kept[places[chosen]] = values[chosen]
            self.seen += len(values)

    @property
    def values(self) -> npt.NDArray[Any]:
        """What is kept, in no order that means anything; empty before anything was added."""
        return np.zeros(0) if self._kept is None else self._kept

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return self.seen <= self._size
