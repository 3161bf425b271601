"""What a TPU's memory adds to a tensor: it is laid out in tiles of 8 × 128, and its last two axes are filled up to them.

XLA may choose two other axes where that wastes less, so that this is an upper bound for tensors, and no padding of weights
is counted: their layout is the compiler's own.

Source: cloud.google.com/tpu/docs/performance-guide, “XLA compiler optimizations” and “Consequences of tiling”.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stethoscope.architecture.layer_kinds import Kind
from stethoscope.architecture.model_shape import LayerShape
from stethoscope.memory.planner.stored import Kept, attention_sizes

SUBLANES, LANES = 8, 128


def padded(size: int, axes: Sequence[int]) -> int:
    """`size`, bytes or elements of a tensor without its batch axis, with the last two of its axes filled up.

    The batch is the last but one where there is a single other axis; it is taken as a multiple of 8 then.
    """
    last, before = (axes[-1] if axes else 1), (axes[-2] if len(axes) > 1 else SUBLANES)
    if not last or not before:
        return size
    return size * _filled(last, LANES) // last * _filled(before, SUBLANES) // before


def kept_axes(tensor: Kept, by_path: Mapping[str, LayerShape]) -> tuple[int, ...]:
    """The axes of what a layer keeps for the backward pass: scores by positions, projections by heads, else its output's."""
    layer = by_path[tensor.path]
    if layer.kind in (Kind.ATTENTION, Kind.TRANSFORMER):
        queries, keys, _, _, size = attention_sizes(layer, dict(by_path))
        if tensor.attention_core:
            return queries, keys
        if tensor.inside and layer.kind is Kind.ATTENTION:
            return queries, size
    return layer.shape


def scores_axes(layer: LayerShape, by_path: Mapping[str, LayerShape]) -> tuple[int, ...]:
    """The axes of the largest tensor within a layer that works: the scores of attention, else its output."""
    if layer.kind in (Kind.ATTENTION, Kind.TRANSFORMER):
        queries, keys, *_ = attention_sizes(layer, dict(by_path))
        return queries, keys
    return layer.shape


def _filled(size: int, to: int) -> int:
    return -(-size // to) * to
