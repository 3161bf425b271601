"""In which order of axes a kernel lies in a file of each format, and how it lies in Keras: (…places, inputs, outputs)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.types import Layer

_SPATIAL = 3
"""Axes that a kernel has at least which slides over places."""


def as_keras_lies(values: npt.NDArray[Any], layer: Layer, format_id: str) -> npt.NDArray[Any]:
    """The kernel of an operator with its axes as Keras has them; as it is where the format has them so, or is not known.

    Args:
        values: one of the layer's weights, as it lies in the file.
        layer: what reads it.
        format_id: of the file.

    Source: the operators' documentation (ONNX: Conv, ConvTranspose, Gemm; LiteRT: CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV,
    FULLY_CONNECTED).
    """
    kind = layer.type.lower().replace("_", "")
    if format_id == "tflite":
        if kind == "fullyconnected" and values.ndim == 2:
            return values.T
        if kind == "conv2d" and values.ndim == 4:
            return values.transpose(1, 2, 3, 0)
        if kind == "transposeconv" and values.ndim == 4:
            return values.transpose(1, 2, 0, 3)
        if kind == "depthwiseconv2d" and values.ndim == 4:
            return values.transpose(1, 2, 3, 0)
    if format_id == "onnx":
        if kind == "gemm" and values.ndim == 2 and layer.config.get("transB"):
            return values.T
        if kind in ("conv", "convtranspose") and values.ndim >= _SPATIAL:
            moved = np.moveaxis(values, (0, 1), (-1, -2))
            one_by_one = values.shape[1] == 1 and values.shape[0] > 1 and int(layer.config.get("group") or 1) > 1
            return moved.swapaxes(-1, -2) if one_by_one else moved
    return values
