"""`reduced.reduce_array` as part of a TensorFlow graph: a few passes over a tensor while it is still there. Worker only.

Sums over rows and positions are products with ones: the fastest reduction there is on a CPU, and without copies. The graph
is kept small, about 25 operators a layer, because tracing them is most of what a short study costs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from stethoscope.activations.reduced import MOST_UNITS, SAMPLE_VALUES, TOP_UNITS, Layout


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
