"""The largest tensors a model will need, told from its architecture alone. Standard library only; nothing is run here.

What to name when memory runs out and the framework does not say which tensor it was for, or ended without a word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from stethoscope.types import Architecture, Layer, Shape

_BITS = re.compile(r"(8|16|32|64|128)(?!\d)")
_ASSUMED = 16
"""For an open dimension, where only an order is wanted."""


def largest_tensors(architecture: Architecture) -> dict[str, Any]:
    """The largest weight and the largest output of a layer, as JSON values.

    Returns:
        {"weights_bytes", "weight": {"operator", "shape", "bytes"} or None, "output": {"operator", "shape", "item_bytes"} or
        None}. The weight's bytes are those of all weights of that layer, its shape that of the largest one of them, None where
        the layer is of an unknown kind; the output's shape has None for dimensions the model leaves open.
    """
    heaviest = max(architecture.layers, key=_weight_bytes, default=None)
    widest = max(architecture.layers, key=lambda layer: _row_bytes(layer.output_shape, layer.dtype), default=None)
    weight = output = None
    if heaviest is not None and heaviest.parameters:
        weight = {"operator": heaviest.path, "shape": _kernel_shape(heaviest), "bytes": _weight_bytes(heaviest)}
    if widest is not None and widest.output_shape:
        shape = list(widest.output_shape)
        output = {"operator": widest.path, "shape": shape, "item_bytes": _item_bytes(widest.dtype)}
    return {"weights_bytes": architecture.weight_bytes, "weight": weight, "output": output}


def filled(output: Mapping[str, Any], rows: int, open_size: int | None) -> tuple[list[int | None], int | None]:
    """The shape of an output of `largest_tensors` for so many rows, and its bytes; None for what stays open.

    Args:
        output: {"shape", "item_bytes"}.
        rows: for the first dimension where it is open.
        open_size: for the others.
    """
    shape = [
        size if isinstance(size, int) else rows if place == 0 else open_size
        for place, size in enumerate(output["shape"])
    ]
    known = [size for size in shape if size is not None]
    return shape, math.prod(known) * int(output["item_bytes"]) if len(known) == len(shape) else None


def _weight_bytes(layer: Layer) -> int:
    stored = "float32" if layer.dtype.startswith("mixed") else layer.dtype
    return layer.parameters * _item_bytes(stored)


def _row_bytes(shape: Shape | None, dtype: str) -> int:
    if not shape:
        return 0
    return math.prod(_ASSUMED if size is None else size for size in shape[1:]) * _item_bytes(dtype)


def _item_bytes(dtype: str) -> int:
    found = _BITS.search(dtype)
    return int(found[1]) // 8 if found else 4


def _kernel_shape(layer: Layer) -> list[int] | None:
    """Of a dense, convolutional or embedding layer, from its units and its number of parameters."""
    config = layer.config
    rows, columns = config.get("input_dim"), config.get("output_dim")
    if layer.type == "Embedding" and isinstance(rows, int) and isinstance(columns, int):
        return [rows, columns]
    units = config.get("units", config.get("filters"))
    if not isinstance(units, int) or units <= 0:
        return None
    size = config.get("kernel_size", ())
    kernel = [size] if isinstance(size, int) else list(size) if isinstance(size, list | tuple) else []
    if layer.type not in ("Dense", "Conv1D", "Conv2D", "Conv3D") or not all(isinstance(side, int) for side in kernel):
        return None
    bias = 0 if config.get("use_bias") is False else units
    incoming, rest = divmod(layer.parameters - bias, units * math.prod(kernel))
    return [*kernel, incoming, units] if incoming > 0 and not rest else None
