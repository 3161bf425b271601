"""How the inputs and outputs of a quantised TFLite model stand for real numbers.

What real numbers the inputs of a quantised TFLite model can hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.models.formats.tflite import load
from stethoscope.models.formats.tflite_model import tflite_layers
from stethoscope.models.formats.tflite_model.tflite_reader import Subgraph
from stethoscope.types import Feed, ModelFile, TensorSpec

Scales = Mapping[str, tuple[float, int]]
"""(scale, zero point) by name: real = (q − zero point) · scale."""


def input_quantisation(file: ModelFile) -> dict[str, tuple[float, int]]:
    """(scale, zero point) of each input that has one, by the input's name.

    Raises:
        UnreadableFile, TooLarge, UnsafeFile: as `tflite.load`.
    """
    return _scales(file, 0)


def output_quantisation(file: ModelFile) -> dict[str, tuple[float, int]]:
    """The same of the outputs."""
    return _scales(file, 1)


def quantised(feed: Feed, specs: Sequence[TensorSpec], scales: Scales) -> Feed:
    """Real numbers as the integers that stand for them, where the input is quantised and the array is real."""
    return {
        spec.name: _quantised(feed[spec.name], spec.dtype, scales.get(spec.name)) for spec in specs if spec.name in feed
    }


def dequantised(outputs: Feed, scales: Scales) -> Feed:
    """The real numbers that outputs stand for."""
    return {
        name: (array.astype(np.float32) - np.float32(scales[name][1])) * np.float32(scales[name][0])
        if name in scales and array.dtype.kind in "iu"
        else array
        for name, array in outputs.items()
    }


def _quantised(array: npt.NDArray[Any], dtype: str, scale: tuple[float, int] | None) -> npt.NDArray[Any]:
    if scale is None or array.dtype.kind != "f" or dtype not in ("int8", "uint8", "int16", "uint16"):
        return array
    ends = np.iinfo(dtype)
    steps = np.round(np.nan_to_num(array.astype(np.float64)) / scale[0]) + scale[1]
    return np.clip(steps, ends.min, ends.max).astype(dtype)


def _scales(file: ModelFile, which: int) -> dict[str, tuple[float, int]]:
    model = load(file)
    index, _ = tflite_layers.entry_point(model)
    tensors = model.subgraphs[index].tensors
    found = {}
    for name, place in tflite_layers.argument_indices(model)[which].items():
        given = tensors[place].quantization
        if given.get("kind") == "per tensor" and float(given["scale"]) > 0:
            found[name] = (float(given["scale"]), int(given["zero_point"]))
    return found


_STORED = ("int8", "uint8", "int16", "uint16")


def input_ranges(file: ModelFile) -> dict[str, tuple[float, float]]:
    """(lowest, highest) by the input's name: of inputs kept as integers, and of those in float that the first operator quantises.

    Raises:
        UnreadableFile, TooLarge, UnsafeFile: as `tflite.load`.
    """
    model = load(file)
    index, _ = tflite_layers.entry_point(model)
    subgraph = model.subgraphs[index]
    found = {}
    for name, place in tflite_layers.argument_indices(model)[0].items():
        for number in (place, *_quantised_from(subgraph, place)):
            tensor = subgraph.tensors[number]
            held = held_range(tensor.dtype, tensor.quantization)
            if held is not None:
                found[name] = held
                break
    return found


def _quantised_from(subgraph: Subgraph, place: int) -> list[int]:
    """What the QUANTIZE operators answer that read a tensor; none where anything else reads it as well."""
    readers = [operator for operator in subgraph.operators if place in operator.inputs]
    if any(operator.type != "QUANTIZE" for operator in readers):
        return []
    return [operator.outputs[0] for operator in readers if operator.outputs]


def held_range(dtype: str, said: Mapping[str, Any]) -> tuple[float, float] | None:
    """(lowest, highest) real number that a tensor quantised as a whole can stand for; None for any other."""
    if dtype not in _STORED or said.get("kind") != "per tensor" or not float(said["scale"]) > 0:
        return None
    ends, scale, zero = np.iinfo(dtype), float(said["scale"]), int(said["zero_point"])
    return scale * (int(ends.min) - zero), scale * (int(ends.max) - zero)
