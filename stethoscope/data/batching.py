"""Feeding a model: cutting input into batches, and fitting a user's arrays to its inputs.

Calling a model on rows in as many calls as its batch asks for.

The same input in other shapes: fewer rows, and shorter where the model's inputs leave a dimension open.

Comparing outputs: to the bit, to a tolerance, and where the largest difference is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.errors import BadInput, StethoscopeError
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

    def together(self, rows: int) -> Batching:
        """As it is where the model takes just so many rows in a call; 0 for all that it is fed, whatever has how many."""
        return replace(self, fixed=rows) if rows else Batching(frozenset(), 1)

    def are_even(self, feed: Feed) -> bool:
        """Whether what has rows has as many everywhere."""
        return len({array.shape[:1] for name, array in feed.items() if name in self.names}) <= 1

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
        BadInput: a name is missing, or an array is empty.
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
    if any(array.ndim and not len(array) for name, array in candidates.items() if name in batched):
        raise uneven(candidates)
    return {name: candidates[name] for name in names}


def uneven(arrays: Feed) -> BadInput:
    """That the arrays of a feed do not have the same number of rows."""
    rows = {name: len(array) if array.ndim else 0 for name, array in arrays.items()}
    return BadInput(f"The data: expected the same number of rows in each array, got {rows}. Align them.")


def in_calls(call: Callable[[Feed], Feed], feed: Feed, batching: Batching, batch_size: int | None = None) -> Feed:
    """The outputs for all rows of a feed, joined.

    Args:
        call: runs the model once.
        feed: any number of rows.
        batching: of the model's inputs; a fixed batch is filled with repeated rows, whose outputs are dropped.
        batch_size: rows in a call, where the model takes any; all of them for None.
    """
    rows = batching.rows(feed)
    size = batching.fixed or batch_size or rows
    if not batching.names or (rows <= size and batching.fixed is None):
        return call(feed)
    parts: dict[str, list[npt.NDArray[np.generic]]] = {}
    for start in range(0, rows, size):
        part = batching.part(feed, start, start + size)
        kept = batching.rows(part)
        full = batching.take(part, size) if batching.fixed else part
        for name, array in call(full).items():
            cut = array.ndim > 0 and len(array) == batching.rows(full) > kept
            parts.setdefault(name, []).append(array[:kept] if cut else array)
    return {name: _joined(arrays) for name, arrays in parts.items()}


def _joined(arrays: list[npt.NDArray[np.generic]]) -> npt.NDArray[np.generic]:
    if len(arrays) == 1:
        return arrays[0]
    if all(array.ndim and array.shape[1:] == arrays[0].shape[1:] for array in arrays):
        return np.concatenate(arrays)
    return arrays[-1]


BATCHES = (1, 2, 3, 4, 5, 6, 7, 8)
"""Batch sizes whose shapes are tried: small, as shapes are what matters."""
SHARES = (1.0, 0.75, 0.5, 0.25)
"""Of an open dimension's size."""


def resized(feed: Feed, inputs: Sequence[TensorSpec], size: int) -> Feed:
    """Cuts every open dimension but the first to at most `size`; what is fixed stays."""
    found: Feed = {}
    for spec in inputs:
        array = feed[spec.name]
        if spec.shape is not None and array.ndim == len(spec.shape):
            cut = (slice(None), *(slice(None if length else size) for length in spec.shape[1:]))
            array = array[cut[: array.ndim]]
        found[spec.name] = array
    return found


def open_size(feed: Feed, inputs: Sequence[TensorSpec]) -> int | None:
    """The largest size of an open dimension other than the batch; None when there is none."""
    sizes = [
        length
        for spec in inputs
        if spec.shape is not None and feed[spec.name].ndim == len(spec.shape)
        for declared, length in zip(spec.shape[1:], feed[spec.name].shape[1:], strict=True)
        if declared is None
    ]
    return max(sizes, default=None)


def other_shapes(
    feed: Feed, inputs: Sequence[TensorSpec], batching: Batching, accepts: Callable[[Feed], object]
) -> list[Feed]:
    """Feeds of different shapes that the model takes, in an order in which two neighbours differ.

    Args:
        feed: an accepted feed.
        inputs: the model's inputs.
        batching: which of them have rows.
        accepts: runs the model; raises a `StethoscopeError` for a shape it does not take.
    """
    whole = open_size(feed, inputs)
    sizes: list[int | None] = [None]
    if whole is not None:
        wanted = sorted({max(1, int(whole * share)) for share in SHARES}, reverse=True)
        sizes = [
            size for size in wanted if _accepted(accepts, resized(batching.take(feed, _rows(batching)), inputs, size))
        ]
    if batching.fixed is not None or not batching.names:
        batches: Sequence[int] = [_rows(batching)] * (len(sizes) if batching.fixed or not batching.names else 1)
    else:
        batches = BATCHES
    found: list[Feed] = []
    for number, batch in enumerate(batches):
        part = batching.take(feed, batch)
        size = sizes[number % len(sizes)] if sizes else None
        found.append(part if size is None else resized(part, inputs, size))
    return found


def _rows(batching: Batching) -> int:
    return batching.fixed or 1


def _accepted(accepts: Callable[[Feed], object], feed: Feed) -> bool:
    try:
        accepts(feed)
    except StethoscopeError:
        return False
    return True


@dataclass(frozen=True)
class Difference:
    """The largest absolute difference between two arrays, with both values and where they stand.

    `beyond` says that it is more than the tolerance. Non-numeric arrays differ by 1 where they differ.
    """

    max_abs_diff: float
    values: tuple[Any, Any]
    index: tuple[int, ...]
    beyond: bool


def tolerance(dtype: np.dtype[Any], atol: float, *, half: bool = False) -> tuple[float, float, float]:
    """(absolute, relative to the value, relative to the array's largest value) for a dtype.

    Wider for half precision, also when `half` says that the values were computed in it; one step for narrow integers
    (quantised outputs); nothing but `atol` for wide ones (class numbers, counts).

    Source: unit roundoff 2^-11 for float16, 2^-8 for bfloat16, 2^-24 for float32. Summing n products in another order
    moves a result by some roundoffs of the largest summand, however small the result itself is (Higham, Accuracy and
    Stability of Numerical Algorithms, 3.1): 16 of them are allowed.
    """
    if dtype.kind in "iu":
        return (max(atol, 1.0) if dtype.itemsize <= 2 else atol), 0.0, 0.0
    if half or dtype.itemsize <= 2:
        return max(atol, 1e-3), 1e-2, 2.0**-7
    return atol, 1e-4, 2.0**-20


def same_bits(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> bool:
    """Whether two arrays agree in shape, dtype and every bit (a NaN equals itself)."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.dtype.kind == "O":
        return bool(np.array_equal(first, second))
    return np.ascontiguousarray(first).tobytes() == np.ascontiguousarray(second).tobytes()


def difference(
    first: npt.NDArray[Any], second: npt.NDArray[Any], atol: float, *, half: bool = False
) -> Difference | None:
    """Returns the largest difference, or None when the arrays are equal (NaN equals NaN)."""
    if first.shape != second.shape:
        return Difference(float("inf"), (list(first.shape), list(second.shape)), (), True)
    if first.size == 0 or same_bits(first, second):
        return None
    if first.dtype.kind not in "fiubc":
        differs = np.asarray(first != second)
        if not differs.any():
            return None
        place = tuple(int(part) for part in np.argwhere(differs)[0])
        return Difference(1.0, (_plain(first[place]), _plain(second[place])), place, True)
    wide = np.complex128 if first.dtype.kind == "c" else np.float64
    left, right = first.astype(wide), second.astype(wide)
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(left - right)
    unequal_nan = np.isnan(left) != np.isnan(right)
    gap = np.where(unequal_nan, np.inf, np.where(np.isnan(gap), 0.0, gap))
    gap = np.where((left == right) | (np.isnan(left) & np.isnan(right)), 0.0, gap)
    largest = float(gap.max())
    if largest == 0.0:
        return None
    place = tuple(int(part) for part in np.unravel_index(int(gap.argmax()), gap.shape))
    absolute, relative, of_largest = tolerance(first.dtype, atol, half=half)
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.nan_to_num(np.abs(left), posinf=0.0)
    allowed = absolute + relative * size + of_largest * float(size.max())
    return Difference(largest, (_plain(first[place]), _plain(second[place])), place, bool((gap > allowed).any()))


def worst(first: Feed, second: Feed, atol: float, *, half: bool = False) -> Difference | None:
    """The largest difference over all arrays of two feeds with the same names."""
    found = [difference(first[name], second[name], atol, half=half) for name in first if name in second]
    return larger(*found)


def larger(*gaps: Difference | None) -> Difference | None:
    """The one that matters most: beyond the tolerance before within it, then by size. None when there is none."""
    found = [gap for gap in gaps if gap is not None]
    return max(found, key=lambda gap: (gap.beyond, gap.max_abs_diff), default=None)


def first_layer(
    first: Mapping[str, npt.NDArray[Any]],
    second: Mapping[str, npt.NDArray[Any]],
    atol: float,
    *,
    bits: bool,
    half: bool = False,
) -> tuple[str, Difference] | None:
    """The first layer, in execution order, whose output differs; beyond the tolerance unless `bits`."""
    for path, array in first.items():
        if path not in second:
            continue
        gap = difference(array, second[path], atol, half=half)
        if gap is not None and (bits or gap.beyond):
            return path, gap
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")[:100]
    item = value.item() if hasattr(value, "item") else value
    return str(item) if isinstance(item, complex) else item
