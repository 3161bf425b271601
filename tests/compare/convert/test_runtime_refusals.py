"""What runtimes say of a file that they do not run: the operator and its layer are found in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stethoscope.compare.convert.converter import Source
from stethoscope.compare.convert.ways_round import Origins, nodes_named, refused
from stethoscope.errors import CannotRun
from stethoscope.models.formats import detect
from stethoscope.models.formats.tflite import load
from stethoscope.types import Architecture, Layer, ModelFile
from tests.tasks.test_samples import BUILT


@pytest.mark.parametrize(
    "said",
    [
        "NOT_IMPLEMENTED : Could not find an implementation for Conv(11) node with name 'block/conv'",
        "Type Error: Type parameter (T) of Optype (Conv) bound to different types (tensor(float16) and tensor(bfloat16) in node (block/conv).",
        "Node (block/conv__12) Op (Conv) [ShapeInferenceError] Invalid dimension value: -3",
        "Non-zero status code returned while running Conv node. Name:'block/conv' Status Message: no",
        "input parameter (x) of operator (Conv) in node (block/conv) is invalid.",
    ],
)
def test_what_onnx_runtime_says(said):
    layers = (Layer("block/conv", "Conv2D", (None, 3), 0, 0, "float32"),)
    architecture = Architecture("frozen_graph", "", 0, None, (), (), layers)
    source = Source(ModelFile(Path("m.pb"), "m.pb"), architecture, None, None)
    (one,) = refused(CannotRun(f"model.onnx: {said}"), source, Path("model.onnx")).unsupported
    assert (one.operator, one.layer) == ("Conv", "block/conv") and one.way_round


def test_a_number_of_litert_is_an_operator_with_its_layer():
    path = BUILT / "digits_cnn.tflite"
    source = ModelFile.at(BUILT / "digits_cnn.keras")
    origins = Origins(detect(source).describe(source))
    operators = load(ModelFile.at(path)).subgraphs[0].operators
    place, operator = next((place, one.type) for place, one in enumerate(operators) if one.type == "CONV_2D")
    ((named, layer),) = nodes_named(f"Node number {place} ({operator}) failed to prepare.", path, origins)
    assert (named, layer) == ("CONV_2D", "edges")
    assert nodes_named("Node number 1 (TfLiteXNNPackDelegate) failed to prepare.", path, origins) == [
        ("TfLiteXNNPackDelegate", "")
    ]
    assert nodes_named("Something else failed.", path, origins) == []
