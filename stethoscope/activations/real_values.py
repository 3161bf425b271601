"""The numbers that quantised integers stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.types import Layer


def real_values(array: npt.NDArray[Any], layer: Layer | None) -> npt.NDArray[Any]:
    """(value − zero point) × scale where the layer's output is quantised with one scale (float32); else the array itself.

    Source: Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference, 2018.
    """
    said = None if layer is None else layer.config.get("output_quantization")
    if not isinstance(said, dict) or array.dtype.kind not in "iu":
        return array
    scale, zero_point = said.get("scale"), said.get("zero_point")
    if not isinstance(scale, int | float) or not isinstance(zero_point, int | float):
        return array
    return (array.astype(np.float32) - np.float32(zero_point)) * np.float32(scale)
