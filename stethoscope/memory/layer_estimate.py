"""Live ranges of a model whose file lists its operators in the order they run (ONNX, TFLite), from its description alone.

The largest tensors a model will need, told from its architecture alone. Standard library only; nothing is run here.

What to name when memory runs out and the framework does not say which tensor it was for, or ended without a word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from stethoscope.architecture.open_sizes import TRIED
from stethoscope.architecture.open_sizes import filled as filled_shape
from stethoscope.memory.estimate import Alive, Facts
from stethoscope.memory.liveness import Step, profile
from stethoscope.types import Architecture, Layer, Shape, TensorSpec

_RENAMES = "reshape identity squeeze unsqueeze expanddims flatten stopgradient input inputlayer"
_WRITES_OVER = (
    "abs add clip cos div elu erf exp floor hardsigmoid hardswish leakyrelu log logistic mul neg prelu pow relu relu6 reciprocal "
    "rsqrt selu sigmoid sin softmax softplus sqrt square sub sum tanh batchnormalization dropout"
)
_RENAMED, _IN_PLACE = frozenset(_RENAMES.split()), frozenset(_WRITES_OVER.split())
"""Operators that may write over an input nobody reads later. Source: onnxruntime `MayInplace` kernel definitions; TFLite's
shared buffers (tensorflow/lite/arena_planner.cc, `kTfLiteInplaceOp…`)."""
_WIDTHS = {"bool": 1, "string": 16, "bfloat16": 2, "": 4}


class LayerFacts:
    """An architecture in which every layer says what it yields."""

    def __init__(self, architecture: Architecture) -> None:
        self._architecture = architecture

    def at(self, batch_size: int, size: int) -> Facts:
        """The facts of one batch.

        Args:
            batch_size: for the first open dimension of every tensor.
            size: for every other open dimension.
        """
        architecture = self._architecture
        tensors: dict[str, Alive] = {}
        steps: list[Step] = []
        unknown = 0
        for layer in architecture.layers:
            unknown += layer.output_shape is None
            shape = filled_shape(layer.output_shape, batch_size, size)
            tensors[layer.path] = Alive(layer.path, layer.path, shape, layer.dtype, _bytes(shape, layer.dtype))
            reads = tuple(path for path in layer.inputs if path != layer.path)
            kind = re.sub(r"[^a-z0-9]", "", layer.type.lower())
            same = tuple(path for path in reads if path in tensors and tensors[path].shape == shape)
            aliases = {layer.path: reads[0]} if kind in _RENAMED and reads and reads[0] in tensors else {}
            steps.append(Step(layer.path, (layer.path,), reads, aliases, same if kind in _IN_PLACE else ()))
        ends = [path for path in architecture.output_layers if path in tensors] or _unread(steps)
        notes = []
        if unknown:
            notes.append(f"{unknown} of {len(steps)} operators do not say what shape they yield; they are left out.")
        weights = [layer.parameters * _width(layer.dtype) for layer in architecture.layers]
        return Facts(
            weights_bytes=architecture.weight_bytes,
            largest_weight_bytes=max(weights, default=0),
            input_bytes=_sum(architecture.inputs, batch_size, size),
            output_bytes=_sum(architecture.outputs, batch_size, size),
            weights=sum(weight > 0 for weight in weights),
            loops=sum(layer.type.lower() in ("loop", "while", "scan") for layer in architecture.layers),
            kernels=len(steps),
            profile=profile(steps, {name: item.size_bytes for name, item in tensors.items()}, to_the_end=ends),
            names=[step.name for step in steps],
            layers=[step.name for step in steps],
            tensors=tensors,
            notes=tuple(notes),
        )


def _unread(steps: Sequence[Step]) -> list[str]:
    read = {name for step in steps for name in step.reads}
    return [step.name for step in steps if step.name not in read]


def _sum(specs: Sequence[TensorSpec], batch_size: int, size: int) -> int:
    return sum(_bytes(filled_shape(spec.shape, batch_size, size), spec.dtype) for spec in specs)


def _bytes(shape: Sequence[int], dtype: str) -> int:
    return math.prod(shape) * _width(dtype)


def _width(dtype: str) -> int:
    digits = re.search(r"\d+$", dtype)
    return _WIDTHS[dtype] if dtype in _WIDTHS else max(1, int(digits[0]) // 8) if digits else 4


_BITS = re.compile(r"(8|16|32|64|128)(?!\d)")


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
    return math.prod(TRIED[0] if size is None else size for size in shape[1:]) * _item_bytes(dtype)


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
