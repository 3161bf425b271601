"""Which rows each step sees: `fit`'s order of mini-batches, a stretch of steps at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Stretch:
    """Consecutive steps: step k sees rows `order[starts[k]:stops[k]]`."""

    order: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    stops: npt.NDArray[np.int32]

    @property
    def sizes(self) -> npt.NDArray[Any]:
        """Rows of each step."""
        return self.stops - self.starts


class Batches:
    """An endless sequence of mini-batches: all rows once per epoch, the last batch as small as it comes.

    Source: keras.Model.fit keeps the partial last batch and shuffles anew before each epoch.
    """

    def __init__(self, rows: int, batch_size: int, *, shuffle: bool, seed: int) -> None:
        self.rows, self.batch_size, self.shuffle = rows, max(1, min(batch_size, rows)), shuffle
        self.steps_per_epoch = max(1, math.ceil(rows / self.batch_size))
        self.step = 0
        self._random = np.random.default_rng(seed)
        self._order = self._epoch()

    def take(self, count: int) -> Stretch:
        """The next `count` steps."""
        orders: list[npt.NDArray[np.int32]] = []
        starts: list[int] = []
        stops: list[int] = []
        offset = 0
        while count > 0:
            place = self.step % self.steps_per_epoch
            if place == 0 and self.step > 0:
                self._order = self._epoch()
            steps = min(count, self.steps_per_epoch - place)
            first, last = place * self.batch_size, min(self.rows, (place + steps) * self.batch_size)
            orders.append(self._order[first:last])
            begins = range(offset, offset + last - first, self.batch_size)
            starts.extend(begins)
            stops.extend(min(begin + self.batch_size, offset + last - first) for begin in begins)
            offset += last - first
            self.step += steps
            count -= steps
        return Stretch(np.concatenate(orders), np.array(starts, np.int32), np.array(stops, np.int32))

    def _epoch(self) -> npt.NDArray[np.int32]:
        order = np.arange(self.rows, dtype=np.int32)
        if self.shuffle:
            self._random.shuffle(order)
        return order
