"""Feeding a model: cutting input into batches, and fitting a user's arrays to its inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.errors import BadInput
from stethoscope.types import Feed, TensorSpec


@dataclass(frozen=True)
class Batching:
    """Which inputs have rows, and how many a call takes.

    `names` are the inputs cut along their first dimension: those where it is dynamic, or, when it is fixed to the same
    number everywhere, all of them. A model whose inputs agree on no first dimension is always called as a whole, and so is
    one that only takes vectors of a fixed length: that is the length of a signal, not a number of rows.
    """

    names: frozenset[str]
    fixed: int | None
    """Rows in every call when the model insists on a number; None when it takes any."""

    @classmethod
    def of(cls, inputs: Sequence[TensorSpec]) -> Batching:
        """Reads it off the input specs."""
        dynamic = frozenset(
            spec.name for spec in inputs if spec.shape is None or (spec.shape and spec.shape[0] is None)
        )
        if dynamic:
            return cls(dynamic, None)
        sizes = {spec.shape[0] for spec in inputs if spec.shape}
        ranked = frozenset(spec.name for spec in inputs if spec.shape)
        signal = all(spec.shape is not None and len(spec.shape) == 1 for spec in inputs) and sizes != {1}
        if len(sizes) == 1 and len(ranked) == len(inputs) and not signal:
            return cls(ranked, sizes.pop())
        return cls(frozenset(), 1)

    def free(self, inputs: Sequence[TensorSpec]) -> list[TensorSpec]:
        """The specs with the first dimension of every cut input left open, so that any number of rows can be made."""
        return [
            replace(spec, shape=(None, *spec.shape[1:])) if spec.name in self.names and spec.shape else spec
            for spec in inputs
        ]

    def rows(self, feed: Feed) -> int:
        """The number of rows in a feed; 1 when no input has any."""
        return max((feed[name].shape[0] for name in self.names if name in feed and feed[name].ndim), default=1)

    def take(self, feed: Feed, count: int) -> Feed:
        """The first `count` rows, repeated from the start when there are fewer."""
        index = np.arange(count) % max(1, self.rows(feed))
        return {name: array[index] if name in self.names and array.ndim else array for name, array in feed.items()}

    def part(self, feed: Feed, start: int, stop: int) -> Feed:
        """Rows `start` to `stop`."""
        return {name: array[start:stop] if name in self.names and array.ndim else array for name, array in feed.items()}

    def cut(self, feed: Feed, batch_size: int) -> Iterator[Feed]:
        """Yields `feed` in batches of at most `batch_size` rows."""
        for start in range(0, self.rows(feed), batch_size):
            yield self.part(feed, start, start + batch_size)


def bind(arrays: Mapping[str, npt.NDArray[Any]], inputs: Sequence[TensorSpec]) -> Feed:
    """Fits a user's arrays to the model's inputs: by name, or the only array (or "x") to the only input.

    Raises:
        BadInput: a name is missing, or rows do not agree.
    """
    names = [spec.name for spec in inputs]
    candidates = {name: array for name, array in arrays.items() if name in names}
    if len(names) == 1 and not candidates:
        lone = arrays.get("x") if "x" in arrays else next(iter(arrays.values())) if len(arrays) == 1 else None
        if lone is not None:
            candidates = {names[0]: lone}
    missing = [name for name in names if name not in candidates]
    if missing:
        raise BadInput(
            f"The data: expected arrays named {names}, got {sorted(arrays)}. Save them with numpy.savez under these names"
            + (" (or one array named x)." if len(names) == 1 else ".")
        )
    batched = Batching.of(inputs).names
    rows = {name: array.shape[0] if array.ndim else 0 for name, array in candidates.items() if name in batched}
    if len(set(rows.values())) > 1 or 0 in rows.values():
        raise BadInput(f"The data: expected the same number of rows in each array, got {rows}. Align them.")
    return {name: candidates[name] for name in names}
