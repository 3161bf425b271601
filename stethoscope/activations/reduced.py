"""What is kept of one layer's output for one batch: a few numbers per unit, of arrays and as part of a TensorFlow graph.

In a graph: a few passes over a tensor while it is still there (worker only). Sums over rows and positions are products with ones: the fastest reduction there is on a CPU, and without copies. The graph
is kept small, about 25 operators a layer, because tracing them is most of what a short study costs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
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
    good = np.isfinite(shaped)
    bad = int(shaped.size - np.count_nonzero(good))
    axes = tuple(place for place in range(3) if place != unit_axis)
    shown = 1 if unit_axis == 2 else 2
    kept = shaped if not bad else np.where(good, shaped, 0)
    count = good.sum(axis=axes, dtype=np.float64)
    mean = kept.sum(axis=axes, dtype=np.float64) / np.maximum(count, 1)
    shape = [1, 1, 1]
    shape[unit_axis] = -1
    apart = (kept - mean.reshape(shape).astype(kept.dtype)) * (good if bad else 1)
    highest = kept if not bad else np.where(good, shaped, -np.inf)
    row_high = highest.max(axis=shown)[: rows if row_axis and shaped.shape[0] == rows else 0, :TOP_UNITS]
    flat = shaped.reshape(-1)
    if flat.size > SAMPLE_VALUES:
        flat = flat[np.random.default_rng([seed, flat.size]).integers(0, flat.size, SAMPLE_VALUES)]
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
        "row_high": row_high,
        "sample": flat,
        "shape": np.asarray(array.shape),
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


class GraphReductions:
    """Makes the reductions of tensors while a graph is built.

    Args:
        rows: of the batches to come, at most.
        careful: count values that are NaN or infinite and leave them out, at twice the cost. Otherwise "m2" tells that there
            are some by not being finite itself.
        seed: of the values drawn for histograms.
    """

    def __init__(self, *, rows: int, careful: bool, seed: int = 0) -> None:
        import tensorflow as tf

        self._tf, self._raw = tf, tf.raw_ops
        self._rows, self._careful = rows, careful
        # Products on a GPU may round to 10 bits (TensorFloat-32); its own sums do not.
        self._by_product = not tf.config.list_physical_devices("GPU")
        # One place in each of so many equal parts: every region of a tensor is met as often.
        parts = np.arange(SAMPLE_VALUES) + np.random.default_rng(seed).random(SAMPLE_VALUES)
        self._places = (parts / SAMPLE_VALUES).astype(np.float64)

    def of(self, tensor: Any, layout: Layout, rows: Any) -> Mapping[str, Any] | None:
        """The reductions of one tensor, with the names of `reduce_array`; None where it holds no numbers.

        "count" and "saturated" are left out where the tensor's shape says the first and the activation has no flat ends.

        Args:
            tensor: of the graph being built.
            layout: how to read it.
            rows: a scalar int32 tensor: rows in this batch.
        """
        tf, raw = self._tf, self._raw
        if isinstance(tensor, tf.RaggedTensor):
            tensor = tensor.flat_values
        elif isinstance(tensor, tf.SparseTensor):
            tensor = tf.sparse.to_dense(tensor)
        if not (tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_bool):
            return None
        if tensor.shape.num_elements() == 0:
            return None
        values = tensor if tensor.dtype in (tf.float32, tf.float64) else tf.cast(tensor, tf.float32)
        shaped, channels_first = _laid_out(tf, values, layout)
        kind = shaped.dtype
        good = raw.IsFinite(x=shaped) if self._careful else None
        kept = shaped if good is None else tf.where(good, shaped, tf.zeros((), kind))

        def total(part: Any) -> Any:
            return self._sums(part, channels_first)

        def counted(condition: Any) -> Any:
            if good is not None:
                condition = raw.LogicalAnd(x=condition, y=good)
            return total(raw.Cast(x=condition, DstT=tf.float32))

        sums = total(kept)
        if good is None:
            counts = raw.Cast(x=raw.Size(input=shaped), DstT=kind) / raw.Cast(x=raw.Size(input=sums), DstT=kind)
        else:
            counts = tf.maximum(tf.cast(counted(tf.ones((), tf.bool)), kind), 1.0)
        mean = sums / counts
        apart = raw.SquaredDifference(x=kept, y=raw.ExpandDims(input=mean, axis=1) if channels_first else mean)
        if good is not None:
            apart = tf.where(good, apart, tf.zeros((), kind))
        positions = 2 if channels_first else 1
        row_high, row_low = (
            self._extreme(tf.where(good, shaped, end) if good is not None else shaped, operator, positions)
            for operator, end in ((raw.Max, kind.min), (raw.Min, kind.max))
        )
        found = {
            "mean": mean,
            "m2": total(apart),
            "low": raw.Min(input=row_low, axis=0),
            "high": raw.Max(input=row_high, axis=0),
            "zeros": counted(raw.Equal(x=shaped, y=tf.zeros((), kind))),
            "row_high": self._by_row(row_high, tensor.shape.rank, rows),
            "sample": self._sample(shaped, tensor),
            "shape": raw.Shape(input=tensor),
        }
        if good is not None:
            found["count"] = counted(tf.ones((), tf.bool))
            found["bad"] = tf.size(shaped) - tf.reduce_sum(tf.cast(good, tf.int32))
        ends = [raw.LessEqual(x=shaped, y=tf.constant(layout.low, kind))] if layout.low is not None else []
        ends += [raw.GreaterEqual(x=shaped, y=tf.constant(layout.high, kind))] if layout.high is not None else []
        if ends:
            found["saturated"] = counted(ends[0] if len(ends) == 1 else raw.LogicalOr(x=ends[0], y=ends[1]))
        return found

    def _sums(self, part: Any, channels_first: bool) -> Any:
        """Sums for each unit: over positions first, then over rows, which keeps float32 exact to about 1e-7."""
        tf, raw = self._tf, self._raw
        positions = 2 if channels_first else 1
        if part.shape[positions] == 1:
            part = raw.Squeeze(input=part, axis=[positions])
            if not self._by_product:
                return raw.Sum(input=part, axis=0)
            ones = raw.OnesLike(x=part[:, :1])
            return raw.Squeeze(input=raw.MatMul(a=ones, b=part, transpose_a=True), axis=[0])
        if not self._by_product:
            return raw.Sum(input=raw.Sum(input=part, axis=positions), axis=0)
        size = part.shape[positions]
        length = raw.Shape(input=part)[positions] if size is None else size
        if channels_first:
            return raw.Sum(input=raw.BatchMatMulV2(x=part, y=tf.ones((1, length, 1), part.dtype)), axis=[0, 2])
        return raw.Sum(input=raw.BatchMatMulV2(x=tf.ones((1, 1, length), part.dtype), y=part), axis=[0, 1])

    def _extreme(self, shaped: Any, operator: Any, positions: int) -> Any:
        """(rows, units): the largest or smallest value of each row."""
        if shaped.shape[positions] == 1:
            return self._raw.Squeeze(input=shaped, axis=[positions])
        return operator(input=shaped, axis=positions)

    def _by_row(self, row_high: Any, rank: int | None, rows: Any) -> Any:
        """The largest values of each row, of at most `TOP_UNITS` units.

        A matrix whose first dimension is not the rows' would be kept whole by this: it is cut off.
        """
        tf = self._tf
        if row_high.shape[1] is None or row_high.shape[1] > TOP_UNITS:
            row_high = row_high[:, :TOP_UNITS]
        if rank != 2 or row_high.shape[0] is not None:
            return row_high
        same = tf.cast(tf.equal(tf.shape(row_high)[0], rows), tf.int32)
        return row_high[: rows * same]

    def _sample(self, shaped: Any, tensor: Any) -> Any:
        tf, raw = self._tf, self._raw
        flat = raw.Reshape(tensor=shaped, shape=[-1])
        sizes = tensor.shape.as_list() if tensor.shape.rank is not None else [None, None]
        if (
            None not in sizes[1:]
            and self._rows * math.prod(sizes[1:]) <= SAMPLE_VALUES
            and sizes[:1] in ([None], [self._rows])
        ):
            return flat
        size = raw.Size(input=flat, out_type=tf.int64)
        places = raw.Cast(x=tf.constant(self._places) * raw.Cast(x=size, DstT=tf.float64), DstT=tf.int64)
        return tf.gather(flat, places)


def _laid_out(tf: Any, values: Any, layout: Layout) -> tuple[Any, bool]:
    """As `reduced.laid_out`, for a tensor whose sizes may be open: one of them at most is left to the reshape."""
    rank = values.shape.rank
    if rank is None or rank < 2:
        return tf.reshape(values, (-1, 1, 1)), False
    axis = layout.axis if rank > 2 else -1
    first, *inner = values.shape.as_list()
    units = inner.pop(0 if axis == 1 else -1)
    many = units is not None and units > MOST_UNITS
    width = 1 if many else units if units is not None else tf.shape(values)[axis]
    if None in inner:
        rest, rows = -1, first if first is not None else tf.shape(values)[0]
    else:
        rest, rows = math.prod(inner) * (units if many else 1), first if first is not None else -1
    if axis == 1 and not many:
        return tf.reshape(values, (rows, width, rest)), True
    return tf.reshape(values, (rows, rest, width)), False
