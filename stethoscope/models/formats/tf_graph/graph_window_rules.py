"""Output shapes of operators that slide a window: convolutions and pooling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stethoscope.models.formats.tf_graph.graph_values import Value
from stethoscope.types import Shape

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
