"""What is kept of one layer's output for one batch: a few numbers per unit.

One reading of the output, in blocks that stay in the processor's cache while everything is made of them; in a TensorFlow
graph one operator for each layer, which is handed the tensor where it lies. The same made of TensorFlow's own operators reads
and writes it a dozen times, and takes three times as long to trace.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
MOST_UNITS = 65_536
"""A layer of more units (a flattened image) is summed up as a whole."""
TOP_UNITS = 2_048
"""Units of a layer whose largest values are followed row by row."""
SAMPLE_VALUES = 8_192
"""Values of one batch that go into the histogram, drawn at random where there are more."""
_BLOCK_BYTES = 256 << 10
_MOST_LINES = 255
"""Of a block: its zeros are counted in bytes."""
_NEAR_LINES = 8
"""Of a block, whose mean is near that of all."""
_WIDE = 256
"""Values side by side from which on a line is as fast as any."""


@dataclass(frozen=True)
class Layout:
    """How a layer's output is read. `axis` is where its units (channels, features) lie: -1, or 1 for channels first."""

    axis: int = -1
    low: float | None = None
    high: float | None = None
    """Its flat ends, as in `flat_ends.FLAT_ENDS`."""


def reduce_array(array: Array, layout: Layout, rows: int, seed: int = 0) -> dict[str, Array] | None:
    """Reduces one batch of a layer's output.

    Args:
        array: (rows, …) where its first dimension is the rows', else any shape.
        layout: how to read it.
        rows: in this batch.
        seed: of the histogram's sample.

    Returns:
        None where there is nothing to sum up (text, no values). Else, over finite values and for each unit: "count",
        "mean", "m2" (sum of squared differences from the mean), "low", "high", "zeros", "saturated"; "bad": number of
        values that are NaN or infinite; "row_high" (rows, at most `TOP_UNITS` units): the largest value of each row, with
        no rows where the array has none; "sample": values for a histogram; "shape".
    """
    if array.dtype.kind not in "fiub" and array.dtype.name not in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return None
    if array.size == 0:
        return None
    values = array if array.dtype in (np.float32, np.float64) else array.astype(np.float32)
    shaped, unit_axis, row_axis = laid_out(values, layout)
    with np.errstate(all="ignore"):
        found = _in_blocks(shaped, layout) if unit_axis == 2 else None
        if found is None or not np.isfinite(found["m2"]).all():
            found = _at_once(shaped, unit_axis, layout)
    flat = shaped.reshape(-1)
    if flat.size > SAMPLE_VALUES:
        flat = flat[np.random.default_rng([seed, flat.size]).integers(0, flat.size, SAMPLE_VALUES)]
    kept_rows = rows if row_axis and shaped.shape[0] == rows else 0
    return found | {
        "row_high": found["row_high"][:kept_rows, :TOP_UNITS],
        "sample": flat,
        "shape": np.asarray(array.shape),
    }


def _in_blocks(shaped: Array, layout: Layout) -> dict[str, Array]:
    """Of (rows, positions, units); "m2" is not finite where a value is none."""
    rows, positions, units = shaped.shape
    # Narrow units lie side by side in a line until the end.
    folds = math.gcd(positions, 1 << (max(1, _WIDE // units).bit_length() - 1))
    lines, width = positions // folds, units * folds
    shaped = shaped.reshape(rows, lines, width)
    row_high = np.full((rows, width), -np.inf, shaped.dtype)
    low = np.full(width, np.inf, shaped.dtype)
    zeros, flat_low, flat_high = (np.zeros(width, np.int64) for _ in range(3))
    counts, means, squares = list[int](), list[Array](), list[Array]()
    most = max(1, min(_MOST_LINES, _BLOCK_BYTES // (shaped.itemsize * width)))
    apart, is_so, ones = (
        np.empty((most, width), shaped.dtype),
        np.empty((most, width), bool),
        np.ones(most, shaped.dtype),
    )
    for at, block in _blocks(shaped, most):
        cells = block.reshape(-1, width)
        count = len(cells)
        near = cells[:: max(1, count // _NEAR_LINES)].mean(axis=0)  # sums of differences from it lose no digits
        scratch = np.subtract(cells, near, out=apart[:count])
        off = (ones[:count] @ scratch).astype(np.float64) / count
        squares.append(ones[:count] @ np.multiply(scratch, scratch, out=scratch) - count * np.square(off))
        means.append(near + off)
        counts.append(count)
        np.maximum(row_high[at], block.max(axis=1), out=row_high[at])
        np.minimum(low, cells.min(axis=0), out=low)
        zeros += _how_many(np.equal(cells, 0, out=is_so[:count]))
        if layout.low:  # at a flat end of 0 lie the zeros, and what is below
            flat_low += _how_many(np.less_equal(cells, layout.low, out=is_so[:count]))
        if layout.high is not None:
            flat_high += _how_many(np.greater_equal(cells, layout.high, out=is_so[:count]))
    if layout.low == 0:
        flat_low = zeros if low.min() >= 0 else np.count_nonzero(shaped <= 0, axis=(0, 1))
    weight = np.asarray(counts, np.float64)[:, None]
    centre = np.asarray(means, np.float64).reshape(-1, folds, units)
    mean = np.average(centre, axis=(0, 1), weights=np.broadcast_to(weight[..., None], centre.shape))
    spread = (weight[..., None] * np.square(centre - mean)).sum(axis=(0, 1))
    inner = np.asarray(squares, np.float64).reshape(-1, folds, units).sum(axis=(0, 1))

    def of_units(counted: Array) -> Array:
        found: Array = counted.reshape(folds, units).sum(axis=0).astype(np.float64)
        return found

    return {
        "count": np.full(units, float(rows * positions)),
        "mean": mean,
        "m2": inner + spread,
        "low": low.reshape(folds, units).min(axis=0),
        "high": row_high.reshape(-1, units).max(axis=0),
        "zeros": of_units(zeros),
        "saturated": of_units(flat_low + flat_high),
        "bad": np.asarray(0),
        "row_high": row_high.reshape(rows, folds, units).max(axis=1),
    }


def _blocks(shaped: Array, most: int) -> Iterator[tuple[slice, Array]]:
    """Cuts (rows, lines, width) into blocks of at most so many lines, whole rows or parts of one, with the rows they are of."""
    rows, lines, _ = shaped.shape
    if lines <= most:
        together = most // lines
        for start in range(0, rows, together):
            yield slice(start, start + together), shaped[start : start + together]
        return
    for row in range(rows):
        for start in range(0, lines, most):
            yield slice(row, row + 1), shaped[row : row + 1, start : start + most]


def _how_many(true: Array) -> Array:
    counted: Array = np.add.reduce(true.view(np.uint8), axis=0, dtype=np.uint8)
    return counted


def _at_once(shaped: Array, unit_axis: int, layout: Layout) -> dict[str, Array]:
    """Where units come before positions, and where values are no numbers, which are left out."""
    good = np.isfinite(shaped)
    bad = int(shaped.size - np.count_nonzero(good))
    axes = tuple(place for place in range(3) if place != unit_axis)
    kept = shaped if not bad else np.where(good, shaped, 0)
    count = good.sum(axis=axes, dtype=np.float64)
    mean = kept.sum(axis=axes, dtype=np.float64) / np.maximum(count, 1)
    shape = [1, 1, 1]
    shape[unit_axis] = -1
    apart = (kept - mean.reshape(shape).astype(kept.dtype)) * (good if bad else 1)
    highest = kept if not bad else np.where(good, shaped, -np.inf)
    saturated = np.zeros(shaped.shape, bool)
    if layout.low is not None:
        saturated |= shaped <= layout.low
    if layout.high is not None:
        saturated |= shaped >= layout.high
    return {
        "count": count,
        "mean": mean,
        "m2": np.square(apart, dtype=np.float64).sum(axis=axes),
        "low": (kept if not bad else np.where(good, shaped, np.inf)).min(axis=axes),
        "high": highest.max(axis=axes),
        "zeros": ((shaped == 0) & good).sum(axis=axes, dtype=np.float64),
        "saturated": (saturated & good).sum(axis=axes, dtype=np.float64),
        "bad": np.asarray(bad),
        "row_high": highest.max(axis=1 if unit_axis == 2 else 2),
    }


def laid_out(values: Array, layout: Layout) -> tuple[Array, int, bool]:
    """The values as (rows, positions, units) or (rows, units, positions); where the units lie; whether it has rows."""
    if values.ndim < 2:
        return values.reshape(-1, 1, 1), 2, values.ndim == 1
    axis = layout.axis if values.ndim > 2 else -1
    units = values.shape[axis]
    if units > MOST_UNITS:
        return values.reshape(values.shape[0], -1, 1), 2, True
    if axis == 1:
        return values.reshape(values.shape[0], units, -1), 1, True
    return values.reshape(values.shape[0], -1, units), 2, True


def handed_over(tensor: Any, rows: Any, take: Callable[[Array, int], int]) -> Any:
    """An operator of the TensorFlow graph that is being built which calls `take` with the tensor's values and the rows of the batch.

    Nothing is copied, and nothing becomes part of the graph's answer but the number that `take` returns. None where the tensor holds
    no numbers.

    Args:
        tensor: of the graph.
        rows: a scalar int32 tensor.
        take: what is done; the values are the tensor's own, and gone afterwards.
    """
    import tensorflow as tf

    if isinstance(tensor, tf.RaggedTensor):
        tensor = tensor.flat_values
    elif isinstance(tensor, tf.SparseTensor):
        tensor = tf.sparse.to_dense(tensor)
    if not (tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_bool):
        return None
    if tensor.shape.num_elements() == 0:
        return None

    def called(values: Array, count: Array) -> Array:
        return np.asarray(take(values, int(count)), np.int32)

    return tf.numpy_function(called, [tensor, rows], tf.int32)
