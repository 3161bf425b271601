"""Small integer values known before a graph runs: constants, and shapes computed from static ones.

Output shapes of operators that slide a window: convolutions and pooling.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from stethoscope.models.formats.tf_graph.flat_graph import Operator, Tensor
from stethoscope.types import Shape

Value = tuple[int | None, ...] | None
"""A vector (or scalar, as one element) of integers, None where one is not known; None when nothing is."""
_MAX_ELEMENTS = 64
_FORMATS = {3: ("i", "int_val"), 9: ("q", "int64_val")}


class Values:
    """Known values by tensor, filled in execution order."""

    def __init__(self) -> None:
        self._known: dict[Tensor, Value] = {}

    def get(self, tensor: Tensor) -> Value:
        """What is known of a tensor."""
        return self._known.get(tensor)

    def follow(self, operator: Operator, shapes: list[Shape | None]) -> None:
        """Records what an operator's result is, when it follows from what is known."""
        inputs = [self._known.get(tensor) for tensor in operator.inputs]
        value = _evaluate(operator.type, operator.attributes, inputs, shapes)
        if value is not None and len(value) <= _MAX_ELEMENTS:
            self._known[Tensor(operator.name, 0)] = value


def constant(attributes: Mapping[str, Any]) -> Value:
    """The elements of an integer Const, in order."""
    if "value" not in attributes:
        return None
    tensor = attributes["value"].tensor
    if tensor.dtype not in _FORMATS or tensor.tensor_shape.unknown_rank:
        return None
    count = 1
    for dim in tensor.tensor_shape.dim:
        count *= max(0, int(dim.size))
    if count > _MAX_ELEMENTS:
        return None
    letter, field = _FORMATS[tensor.dtype]
    listed = [int(value) for value in getattr(tensor, field)]
    if tensor.tensor_content:
        size = struct.calcsize(f"<{letter}")
        if len(tensor.tensor_content) != size * count:
            return None
        listed = [int(value) for value in struct.unpack(f"<{count}{letter}", tensor.tensor_content)]
    if not listed:
        return (0,) * count
    # TensorFlow repeats the last listed value up to the shape.
    return tuple(listed[:count] + [listed[-1]] * (count - len(listed)))


def _evaluate(kind: str, attributes: Mapping[str, Any], inputs: list[Value], shapes: list[Shape | None]) -> Value:
    if kind == "Const":
        return constant(attributes)
    if kind == "Shape" and shapes and shapes[0] is not None:
        return tuple(shapes[0])
    if kind in ("Identity", "Cast", "EnsureShape", "StopGradient", "Squeeze", "ExpandDims", "Reshape") and inputs:
        return inputs[0]
    if kind == "Pack" and inputs and all(value is not None and len(value) == 1 for value in inputs):
        return tuple(value[0] for value in inputs if value is not None)
    if kind == "ConcatV2" and len(inputs) > 1 and all(value is not None for value in inputs[:-1]):
        return tuple(item for value in inputs[:-1] for item in value or ())
    if kind == "StridedSlice":
        return _slice(attributes, inputs, shapes)
    if kind in ("Mul", "Add", "AddV2", "Sub", "FloorDiv") and len(inputs) == 2:
        return _arithmetic(kind, inputs[0], inputs[1])
    if kind == "Prod" and inputs and inputs[0] is not None and len(inputs) == 2:
        total = 1
        for item in inputs[0]:
            if item is None:
                return (None,)
            total *= item
        return (total,)
    return None


def _slice(attributes: Mapping[str, Any], inputs: list[Value], shapes: list[Shape | None]) -> Value:
    """One-dimensional slices, as in `tf.shape(x)[0]`."""
    masks = {
        name: int(attributes[name].i) if name in attributes else 0
        for name in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask")
    }
    if len(inputs) != 4 or any(inputs[index] is None or len(inputs[index] or ()) != 1 for index in (1, 2, 3)):
        return None
    if (
        inputs[0] is None
        or (shapes[0] is not None and len(shapes[0]) != 1)
        or masks["ellipsis_mask"]
        or masks["new_axis_mask"]
    ):
        return None
    begin, end, step = ((value or (None,))[0] for value in inputs[1:])
    if begin is None or end is None or not step:
        return None
    if "shrink_axis_mask" in attributes and attributes["shrink_axis_mask"].i & 1:
        return (inputs[0][begin],) if -len(inputs[0]) <= begin < len(inputs[0]) else None
    return inputs[0][None if masks["begin_mask"] & 1 else begin : None if masks["end_mask"] & 1 else end : step]


def _arithmetic(kind: str, left: Value, right: Value) -> Value:
    if left is None or right is None or (len(left) != len(right) and 1 not in (len(left), len(right))):
        return None
    count = max(len(left), len(right))
    found: list[int | None] = []
    for index in range(count):
        a, b = left[index if len(left) > 1 else 0], right[index if len(right) > 1 else 0]
        if a is None or b is None or (kind == "FloorDiv" and b == 0):
            found.append(None)
        else:
            found.append(
                a * b if kind == "Mul" else a - b if kind == "Sub" else a // b if kind == "FloorDiv" else a + b
            )
    return tuple(found)


Attributes = Mapping[str, Any]
Shapes = list[Shape | None]


def _window(
    size: int | None, kernel: int | None, stride: int, dilation: int, padding: bytes, explicit: int
) -> int | None:
    """Output size of a convolution or pooling along one axis."""
    if size is None or stride <= 0:
        return None
    if padding == b"SAME":
        return -(-size // stride)
    if kernel is None:
        return None
    return max(0, (size + explicit - ((kernel - 1) * dilation + 1)) // stride + 1)


def _slide(attributes: Attributes, shape: Shape | None, kernel: list[int | None], channels: int | None) -> Shapes:
    if shape is None:
        return [None]
    layout = attributes["data_format"].s.decode() if "data_format" in attributes else ""
    last = not layout.startswith("NC")
    rank = len(shape)
    spatial = range(1, rank - 1) if last else range(2, rank)
    strides = list(attributes["strides"].list.i) if "strides" in attributes else [1] * rank
    dilations = list(attributes["dilations"].list.i) if "dilations" in attributes else [1] * rank
    padding = bytes(attributes["padding"].s) if "padding" in attributes else b"VALID"
    pads = list(attributes["explicit_paddings"].list.i) if "explicit_paddings" in attributes else []
    sizes: list[int | None] = [
        _window(
            shape[axis],
            kernel[number],
            int(strides[axis]),
            int(dilations[axis]),
            padding,
            sum(pads[2 * axis : 2 * axis + 2]),
        )
        for number, axis in enumerate(spatial)
    ]
    return [(shape[0], *sizes, channels) if last else (shape[0], channels, *sizes)]


def conv(attributes: Attributes, inputs: Shapes, _: list[Value]) -> Shapes:
    """Conv2D, Conv3D."""
    kernel = inputs[1]
    return [None] if kernel is None else _slide(attributes, inputs[0], list(kernel[:-2]), kernel[-1])


def depthwise(attributes: Attributes, inputs: Shapes, _: list[Value]) -> Shapes:
    """DepthwiseConv2dNative."""
    kernel = inputs[1]
    if kernel is None:
        return [None]
    channels = None if kernel[2] is None or kernel[3] is None else kernel[2] * kernel[3]
    return _slide(attributes, inputs[0], list(kernel[:2]), channels)


def pool(attributes: Attributes, inputs: Shapes, _: list[Value]) -> Shapes:
    """Max and average pooling."""
    shape = inputs[0]
    if shape is None or "ksize" not in attributes:
        return [None]
    layout = attributes["data_format"].s.decode() if "data_format" in attributes else ""
    first = layout.startswith("NC")
    kernel = [int(size) for size in attributes["ksize"].list.i]
    return _slide(attributes, shape, list(kernel[2:] if first else kernel[1:-1]), shape[1] if first else shape[-1])
