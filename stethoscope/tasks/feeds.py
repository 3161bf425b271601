"""What to feed a model: random input made from its specs with a seed, or arrays that a user brought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.errors import BadInput
from stethoscope.types import Architecture, Feed, TensorSpec

DYNAMIC_SIZES = (16, 64, 32, 128, 224, 256, 299, 8, 1)
"""Sizes tried, in this order, for dynamic dimensions other than the batch; the first the model accepts is used."""
UNKNOWN_RANK_SHAPES: tuple[tuple[int, ...], ...] = ((16,), (), (16, 16), (16, 16, 3))
WORDS = np.array(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"])


@dataclass(frozen=True)
class Batching:
    """Which inputs have rows, and how many a call takes.

    `names` are the inputs cut along their first dimension: those where it is dynamic, or, when it is fixed to the same
    number everywhere, all of them. A model whose inputs agree on no first dimension is always called as a whole.
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
        if len(sizes) == 1 and len(ranked) == len(inputs):
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


def dummy_feed(
    architecture: Architecture, inputs: Sequence[TensorSpec], batch_size: int, seed: int, dynamic_size: int = 16
) -> Feed:
    """Returns random input: one array per input, leading dimension `batch_size` where it is dynamic.

    Floats are standard normal; integers stay below the smallest vocabulary they are looked up in; inputs named like a
    mask are ones and like a segment or token type zeros, as tokenizers fill them.
    """
    limit = index_limit(architecture)
    return {
        spec.name: _random(spec, batch_size, np.random.default_rng([seed, place]), dynamic_size, limit)
        for place, spec in enumerate(inputs)
    }


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


def _random(
    spec: TensorSpec, batch_size: int, random: np.random.Generator, dynamic_size: int, limit: int
) -> npt.NDArray[Any]:
    shape = _shape(spec, batch_size, dynamic_size)
    name, dtype = spec.name.lower(), spec.dtype
    if dtype == "string":
        return random.choice(WORDS, size=shape).astype(object)
    if dtype == "bool":
        return random.integers(0, 2, size=shape).astype(bool)
    if dtype.startswith(("int", "uint")):
        if "mask" in name:
            return np.ones(shape, dtype)
        if "segment" in name or "token_type" in name:
            return np.zeros(shape, dtype)
        info = np.iinfo(dtype)
        wide = dtype in ("int8", "uint8", "int16", "uint16")
        low, high = (info.min, info.max + 1) if wide and limit == NO_LIMIT else (0, min(limit, int(info.max)))
        return random.integers(low, high, size=shape).astype(dtype)
    if dtype.startswith("complex"):
        return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)
    kind = dtype if dtype in ("float16", "float32", "float64") else "float32"
    return random.standard_normal(shape).astype(kind)


def _shape(spec: TensorSpec, batch_size: int, dynamic_size: int) -> tuple[int, ...]:
    if spec.shape is None:
        return (batch_size, *UNKNOWN_RANK_SHAPES[DYNAMIC_SIZES.index(dynamic_size) % len(UNKNOWN_RANK_SHAPES)])
    sizes = list(spec.shape)
    for place, size in enumerate(sizes):
        if size is None:
            sizes[place] = batch_size if place == 0 else dynamic_size
    return tuple(int(size or 0) for size in sizes)


NO_LIMIT = 1 << 31


def index_limit(architecture: Architecture) -> int:
    """The smallest vocabulary that integer inputs may be looked up in; 10 where only shapes say so."""
    sizes = [
        int(layer.config["input_dim"])
        for layer in architecture.layers
        if layer.type in ("Embedding", "Hashing") and str(layer.config.get("input_dim", "")).isdigit()
    ]
    lookups = any(
        layer.type in ("Gather", "GatherV2", "ResourceGather", "EMBEDDING_LOOKUP", "GATHER")
        for layer in architecture.layers
    )
    return min(sizes, default=2 if lookups else NO_LIMIT)
