"""Live ranges of a model whose file lists its operators in the order they run (ONNX, TFLite), from its description alone."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from stethoscope.memory.estimate import Alive, Facts
from stethoscope.memory.liveness import Step, profile
from stethoscope.types import Architecture, Shape, TensorSpec

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
            shape = _filled(layer.output_shape, batch_size, size)
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


def _filled(shape: Shape | None, batch_size: int, size: int) -> tuple[int, ...]:
    if shape is None:
        return (0,)
    return tuple(
        length if length is not None else batch_size if place == 0 else size for place, length in enumerate(shape)
    )


def _sum(specs: Sequence[TensorSpec], batch_size: int, size: int) -> int:
    return sum(_bytes(_filled(spec.shape, batch_size, size), spec.dtype) for spec in specs)


def _bytes(shape: Sequence[int], dtype: str) -> int:
    return math.prod(shape) * _width(dtype)


def _width(dtype: str) -> int:
    digits = re.search(r"\d+$", dtype)
    return _WIDTHS[dtype] if dtype in _WIDTHS else max(1, int(digits[0]) // 8) if digits else 4
