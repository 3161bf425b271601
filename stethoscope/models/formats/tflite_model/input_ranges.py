"""What real numbers the inputs of a quantised TFLite model can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stethoscope.models.formats.tflite import load
from stethoscope.models.formats.tflite_model import tflite_layers
from stethoscope.models.formats.tflite_model.tflite_reader import Subgraph
from stethoscope.types import ModelFile

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
