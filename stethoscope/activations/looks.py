"""One sample's output of one layer as an array to draw: bounded, thinned where it is large, and said so.

Where a model attends: which layers hold attention scores, told from the architecture alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.activations import SOFTMAX
from stethoscope.types import Architecture, Layer

Array = npt.NDArray[Any]
MOST_CHANNELS = 512
MOST_SIDE = 128
"""Of one feature map, in pixels; larger ones are averaged in blocks."""
MOST_STEPS = 1_024
"""Of a sequence, in time and in features."""
MOST_VALUES = 65_536
MOST_HEADS = 64
MOST_TOKENS = 512


LookKind: TypeAlias = Literal["maps", "sequence", "vector", "attention", "array"]
"""maps (channel, height, width), sequence (step, feature), vector (unit), attention (head, query, key)."""


@dataclass(frozen=True)
class Look:
    """`values` is float32; `axes` names its dimensions in order."""

    kind: LookKind
    values: Array
    axes: tuple[str, ...]
    notes: tuple[str, ...] = ()
    channels: tuple[int, ...] = ()
    """Which of the layer's are in `values`, where some were left out."""


def look_at(row: Array, channels_first: bool) -> Look:
    """The picture of one row of a layer's output, without the rows' dimension.

    Args:
        row: numbers of any rank.
        channels_first: whether its first dimension is the channels.
    """
    values = np.asarray(row).astype(np.float32)
    if values.ndim >= 3:
        return _maps(np.moveaxis(values, -1, 0) if not channels_first else values)
    if values.ndim == 2:
        return _sequence(values.T if channels_first else values)
    if values.ndim == 1:
        kept, notes = _first(values, 0, MOST_VALUES, "units")
        return Look("vector", kept, ("unit",), notes)
    return Look("array", values.reshape(1), ("value",))


def attention_of(row: Array) -> Look:
    """Attention scores of one row: (heads, queries, keys), or (queries, keys) for one head."""
    values = np.asarray(row, np.float32)
    values = values[None] if values.ndim == 2 else values
    kept, notes = _first(values, 0, MOST_HEADS, "heads")
    kept, more = _first(kept, 1, MOST_TOKENS, "queries")
    kept, last = _first(kept, 2, MOST_TOKENS, "keys")
    return Look("attention", kept, ("head", "query", "key"), notes + more + last)


def _maps(values: Array) -> Look:
    notes: tuple[str, ...] = ()
    channels: tuple[int, ...] = ()
    if values.ndim > 3:
        # Volumes and frames: the middle of every dimension but the last two.
        middle = tuple(size // 2 for size in values.shape[1:-2])
        values = values[(slice(None), *middle)]
        notes += (
            f"The slice at {', '.join(str(at) for at in middle)} of its {len(middle)} outer dimension(s) is shown.",
        )
    if len(values) > MOST_CHANNELS:
        spread = np.nan_to_num(values.reshape(len(values), -1)).std(axis=1)
        chosen = np.sort(np.argsort(-spread, kind="stable")[:MOST_CHANNELS])
        notes += (f"The {MOST_CHANNELS} of its {len(values):,} channels that vary most are shown.",)
        channels = tuple(int(one) for one in chosen)
        values = values[chosen]
    block = max(-(-size // MOST_SIDE) for size in values.shape[1:]) if values.size else 1
    if block > 1:
        notes += (f"Averaged over blocks of {block} × {block} from {values.shape[1]} × {values.shape[2]}.",)
        values = _blocks(values, block)
    return Look("maps", np.ascontiguousarray(values), ("channel", "height", "width"), notes, channels)


def _blocks(values: Array, block: int) -> Array:
    """Means of square blocks; those at the far edges are smaller."""
    rows = np.add.reduceat(values, np.arange(0, values.shape[1], block), axis=1)
    sums = np.add.reduceat(rows, np.arange(0, values.shape[2], block), axis=2)
    high = np.diff(np.append(np.arange(0, values.shape[1], block), values.shape[1]))
    wide = np.diff(np.append(np.arange(0, values.shape[2], block), values.shape[2]))
    return np.asarray(sums / (high[:, None] * wide[None, :]), np.float32)


def _sequence(values: Array) -> Look:
    kept, notes = _first(values, 0, MOST_STEPS, "steps")
    kept, more = _first(kept, 1, MOST_STEPS, "features")
    return Look("sequence", np.ascontiguousarray(kept), ("step", "feature"), notes + more)


def _first(values: Array, axis: int, most: int, what: str) -> tuple[Array, tuple[str, ...]]:
    if values.shape[axis] <= most:
        return values, ()
    return values.take(range(most), axis=axis), (f"The first {most:,} of {values.shape[axis]:,} {what} are shown.",)


_BETWEEN = frozenset(
    [
        "add",
        "addv2",
        "sub",
        "subtract",
        "mul",
        "multiply",
        "div",
        "realdiv",
        "divide",
        "where",
        "select",
        "selectv2",
        "cast",
        "reshape",
        "identity",
        "biasadd",
        "broadcastto",
        "expanddims",
        "squeeze",
        "transpose",
        "clip",
        "minimum",
        "maximum",
        "dequantize",
        "quantize",
    ]
)
"""Operators between the product of queries and keys and its softmax: scaling, masks, changes of form."""
_PRODUCTS = frozenset(("batchmatmul", "batchmatmulv2", "batchmatmulv3", "einsum", "matmul", "dotgeneral", "dot"))


def attention_layers(architecture: Architecture) -> tuple[str, ...]:
    """Paths of the layers whose attention scores the task `look` can show.

    In Keras every layer named for attention; layers of the user's own are looked into when they are called. In graphs the
    softmax operators over a product of two computed tensors, with scores for each pair of positions.
    """
    by_path = {layer.path: layer for layer in architecture.layers}
    return tuple(layer.path for layer in architecture.layers if holds_scores(layer, by_path))


def holds_scores(layer: Layer, by_path: dict[str, Layer]) -> bool:
    """Whether a layer computes attention (Keras) or its output is attention scores (a graph's softmax)."""
    kind = layer.type.lower().replace("_", "")
    if kind != SOFTMAX.name:
        return "attention" in kind
    shape = layer.output_shape
    if shape is not None and (len(shape) < 3 or shape[-1] == 1):
        return False
    waiting, seen = list(layer.inputs), set[str]()
    while waiting and len(seen) < 40:
        path = waiting.pop(0)
        source = by_path.get(path)
        if source is None or path in seen:
            continue
        seen.add(path)
        name = source.type.lower().replace("_", "")
        if name in _PRODUCTS:
            # A product with a weight has one computed source; of queries with keys, two.
            return len([one for one in source.inputs if one in by_path]) > 1
        if name in _BETWEEN:
            waiting.extend(source.inputs)
    return False
