"""How the inputs of a quantised TFLite model stand for real numbers."""

from __future__ import annotations

from stethoscope.formats.tflite import load
from stethoscope.formats.tflite_model import tflite_layers
from stethoscope.types import ModelFile


def input_quantisation(file: ModelFile) -> dict[str, tuple[float, int]]:
    """Returns (scale, zero point) of each input that has one, by the input's name: real = (q − zero point) · scale.

    Raises:
        UnreadableFile, TooLarge, UnsafeFile: as `tflite.load`.
    """
    model = load(file)
    index, _ = tflite_layers.entry_point(model)
    tensors = model.subgraphs[index].tensors
    found = {}
    for name, place in tflite_layers.argument_indices(model)[0].items():
        given = tensors[place].quantization
        if given.get("kind") == "per tensor" and float(given["scale"]) > 0:
            found[name] = (float(given["scale"]), int(given["zero_point"]))
    return found
