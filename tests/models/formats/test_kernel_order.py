"""How kernels lie in files."""

from __future__ import annotations

import numpy as np

from stethoscope.models.formats import all_formats
from stethoscope.types import Layer
from tests.tables import each


@each(
    ("kind", "format_id", "config", "stored", "expected"),
    [
        ("FULLY_CONNECTED", "tflite", {}, (5, 4), (4, 5)),
        ("CONV_2D", "tflite", {}, (8, 3, 2, 4), (3, 2, 4, 8)),
        ("DEPTHWISE_CONV_2D", "tflite", {}, (1, 3, 2, 4), (3, 2, 4, 1)),
        ("TRANSPOSE_CONV", "tflite", {}, (8, 3, 2, 4), (3, 2, 8, 4)),
        ("Conv", "onnx", {}, (8, 4, 3, 2), (3, 2, 4, 8)),
        ("Conv", "onnx", {"group": 8}, (8, 1, 3, 2), (3, 2, 8, 1)),
        ("ConvTranspose", "onnx", {}, (4, 8, 3, 2), (3, 2, 8, 4)),
        ("Gemm", "onnx", {"transB": 1}, (5, 4), (4, 5)),
        ("MatMul", "onnx", {}, (4, 5), (4, 5)),
        ("LSTM", "onnx", {}, (1, 40, 6), (6, 40)),
        ("GRU", "onnx", {}, (2, 30, 6), (2, 30, 6)),
        ("Conv2D", "keras", {}, (3, 2, 4, 8), (3, 2, 4, 8)),
    ],
)
def test_kernels_lie_as_in_keras(kind, format_id, config, stored, expected):
    layer = Layer("here", kind, None, 0, 0, "", config=config)
    assert all_formats()[format_id].as_keras_lies(np.zeros(stored), layer).shape == expected


def test_gates_lie_in_the_order_of_keras():
    stored = np.repeat(["i", "o", "f", "c"], 3)[None, :, None].repeat(2, axis=2)
    found = all_formats()["onnx"].as_keras_lies(stored, Layer("here", "LSTM", None, 0, 0, ""))
    assert "".join(found[0]) == "iiifffcccooo"
