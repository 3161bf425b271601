"""Real numbers and the integers that stand for them: real = (integer − zero point) · scale, one scale for a tensor.

Source: Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference, 2018.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.types import Feed, TensorSpec

Scale = tuple[float, int]
"""(scale, zero point)."""
Scales = Mapping[str, Scale]
"""By the name of an input, output or tensor."""
STORED = ("int8", "uint8", "int16", "uint16")
"""Types that quantised tensors are kept in."""


def quantised(feed: Feed, specs: Sequence[TensorSpec], scales: Scales) -> Feed:
    """Real numbers as small integers, where an input takes those and the array is real; the nearest ones, without a scale."""
    return {spec.name: _quantised(feed[spec.name], spec, scales.get(spec.name)) for spec in specs if spec.name in feed}


def dequantised(arrays: Feed, scales: Scales) -> Feed:
    """The real numbers that integers stand for (float32), where they have a scale."""
    return {
        name: (array.astype(np.float32) - np.float32(scales[name][1])) * np.float32(scales[name][0])
        if name in scales and array.dtype.kind in "iu"
        else array
        for name, array in arrays.items()
    }


def held_range(dtype: str, scale: Scale | None) -> tuple[float, float] | None:
    """(lowest, highest) real number that a tensor can stand for; None for one that is not quantised."""
    if dtype not in STORED or scale is None or not scale[0] > 0:
        return None
    ends = np.iinfo(dtype)
    return scale[0] * (int(ends.min) - scale[1]), scale[0] * (int(ends.max) - scale[1])


def said_scale(said: object) -> Scale | None:
    """What a layer's configuration says of its output ("output_quantization"); None where it is not one scale for all."""
    if not isinstance(said, dict) or said.get("kind") != "per tensor" or not float(said["scale"]) > 0:
        return None
    return float(said["scale"]), int(said["zero_point"])


def _quantised(array: npt.NDArray[Any], spec: TensorSpec, scale: Scale | None) -> npt.NDArray[Any]:
    if array.dtype.kind != "f" or spec.dtype not in STORED:
        return array
    ends, (step, zero) = np.iinfo(spec.dtype), scale or (1.0, 0)
    steps = np.round(np.nan_to_num(array.astype(np.float64)) / step) + zero
    return np.clip(steps, ends.min, ends.max).astype(spec.dtype)
