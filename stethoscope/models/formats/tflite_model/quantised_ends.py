"""How the inputs and outputs of a TFLite model stand for real numbers, and what the inputs can hold."""

from __future__ import annotations

from stethoscope.models.formats.tflite import load
from stethoscope.models.formats.tflite_model import tflite_layers
from stethoscope.models.formats.tflite_model.tflite_reader import Subgraph
from stethoscope.models.quantisation import Scale, held_range, said_scale
from stethoscope.types import ModelFile


def input_quantisation(file: ModelFile) -> dict[str, Scale]:
    """(scale, zero point) of each input that has one, by the input's name.

    Raises:
        UnreadableFile, TooLarge, UnsafeFile: as `tflite.load`.
    """
    return _scales(file, 0)


def output_quantisation(file: ModelFile) -> dict[str, Scale]:
    """The same of the outputs."""
    return _scales(file, 1)


def _scales(file: ModelFile, which: int) -> dict[str, Scale]:
    model = load(file)
    index, _ = tflite_layers.entry_point(model)
    tensors = model.subgraphs[index].tensors
    found = {}
    for name, place in tflite_layers.argument_indices(model)[which].items():
        scale = said_scale(tensors[place].quantization)
        if scale is not None:
            found[name] = scale
    return found


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
            held = held_range(tensor.dtype, said_scale(tensor.quantization))
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
