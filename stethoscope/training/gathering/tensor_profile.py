"""Statistics of one weight tensor, in bounded time and without a copy of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.evidence.weights import WeightProfile

MOST_SAMPLED = 4_000_000
"""Values that mean, spread, zeros and columns are computed from; larger tensors are sampled evenly."""
_DISTINCT = 3
_KERNELS = ("kernel", "recurrent_kernel", "pointwise_kernel", "weight", "embeddings")


def profile(
    layer: str, name: str, array: npt.NDArray[Any], *, trainable: bool, fans: tuple[int, int] | None = None
) -> WeightProfile:
    """Returns the statistics of `array`.

    Minimum, maximum and the search for NaN read every value; the rest reads at most `MOST_SAMPLED` of them.
    """
    shape = tuple(int(size) for size in array.shape)
    if array.dtype.kind not in "fiub" or array.size == 0:
        return WeightProfile(layer, name, shape, str(array.dtype), trainable, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0)
    flat = array.reshape(-1)
    low, high = float(flat.min()), float(flat.max())
    nonfinite = 0
    if not (np.isfinite(low) and np.isfinite(high)):
        finite = np.isfinite(flat)
        nonfinite = int(flat.size - finite.sum())
        flat = flat[finite]
        low, high = (float(flat.min()), float(flat.max())) if flat.size else (0.0, 0.0)
    sample = flat[:: -(-flat.size // MOST_SAMPLED)] if flat.size > MOST_SAMPLED else flat
    dead, identical = _columns(array) if name in _KERNELS and nonfinite == 0 else (0, 0)
    return WeightProfile(
        layer=layer,
        name=name,
        shape=shape,
        dtype=str(array.dtype),
        trainable=trainable,
        mean=float(sample.mean(dtype=np.float64)) if sample.size else 0.0,
        std=float(sample.std(dtype=np.float64)) if sample.size else 0.0,
        minimum=low,
        maximum=high,
        zero_fraction=float(1 - np.count_nonzero(sample) / sample.size) if sample.size else 0.0,
        nonfinite=nonfinite,
        distinct=_distinct(sample, low, high),
        fan_in=fans[0] if fans else None,
        fan_out=fans[1] if fans else None,
        dead_columns=dead,
        identical_columns=identical,
    )


def fans(layer_type: str, name: str, shape: Sequence[int]) -> tuple[int, int] | None:
    """(fan_in, fan_out) of a kernel as its initialiser counts them; None where axes mean something else.

    Source: keras.initializers.compute_fans.
    """
    if name not in ("kernel", "recurrent_kernel") or len(shape) < 2 or layer_type.startswith("Depthwise"):
        return None
    if layer_type.startswith("Conv") or (len(shape) == 2 and layer_type != "EinsumDense"):
        field = int(np.prod(shape[:-2]))
        return int(shape[-2]) * field, int(shape[-1]) * field
    return None


def _distinct(sample: npt.NDArray[Any], low: float, high: float) -> int:
    if not sample.size:
        return 0
    if low == high:
        return 1
    between = (sample != low) & (sample != high)
    return _DISTINCT if bool(between.any()) else 2


def _columns(array: npt.NDArray[Any]) -> tuple[int, int]:
    """(columns of zeros, columns equal to an earlier one and not zero) over the last axis."""
    if array.ndim < 2 or array.shape[-1] < 2:
        return 0, 0
    table = array.reshape(-1, array.shape[-1])
    rows = max(1, MOST_SAMPLED // table.shape[1])
    if table.shape[0] > rows:
        table = table[:: -(-table.shape[0] // rows)]
    columns = np.ascontiguousarray(table.T)
    zero = ~columns.any(axis=1)
    seen = {column.tobytes() for column in columns[~zero]}
    return int(zero.sum()), int((~zero).sum()) - len(seen)
