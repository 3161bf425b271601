"""The tensor to name when nobody else does."""

from __future__ import annotations

from stethoscope.memory.layer_estimate import filled, largest_tensors
from stethoscope.types import Architecture, Layer


def layer(path: str, kind: str, shape, parameters: int = 0, dtype: str = "float32", **config) -> Layer:
    return Layer(path, kind, shape, parameters, parameters, dtype, config=config)


def architecture(*layers: Layer) -> Architecture:
    return Architecture("keras3", "", 0, 0, (), (), layers, weight_bytes=100)


def test_the_heaviest_weights_and_the_widest_output():
    found = largest_tensors(
        architecture(
            layer("in", "InputLayer", (None, 32, 32, 3)),
            layer("conv", "Conv2D", (None, 32, 32, 16), 3 * 3 * 3 * 16 + 16, filters=16, kernel_size=[3, 3]),
            layer("dense", "Dense", (None, 10), 16384 * 10, units=10, use_bias=False),
        )
    )
    assert found["weight"] == {"operator": "dense", "shape": [16384, 10], "bytes": 16384 * 10 * 4}
    assert found["output"] == {"operator": "conv", "shape": [None, 32, 32, 16], "item_bytes": 4}
    assert filled(found["output"], 8, None) == ([8, 32, 32, 16], 8 * 32 * 32 * 16 * 4)


def test_kinds_of_layers_have_their_kernels():
    for heavy, shape in (
        (layer("e", "Embedding", None, 5000, input_dim=500, output_dim=10), [500, 10]),
        (layer("c", "Conv2D", None, 5 * 5 * 3 * 8 + 8, filters=8, kernel_size=[5, 5]), [5, 5, 3, 8]),
        (layer("d", "Dense", None, 17, units=4), None),  # it does not come out even
        (layer("l", "LSTM", None, 4000, units=10), None),
    ):
        assert largest_tensors(architecture(heavy))["weight"]["shape"] == shape


def test_precision_counts_and_weights_of_a_mixed_policy_are_whole():
    found = largest_tensors(architecture(layer("d", "Dense", (None, None, 8), 80, dtype="mixed_bfloat16", units=8)))
    assert found["weight"]["bytes"] == 320
    assert found["output"]["item_bytes"] == 2
    assert filled(found["output"], 3, 7) == ([3, 7, 8], 3 * 7 * 8 * 2)
    assert filled(found["output"], 3, None) == ([3, None, 8], None)


def test_a_graph_without_shapes_has_none():
    found = largest_tensors(architecture(layer("op", "MatMul", None)))
    assert (found["weight"], found["output"]) == (None, None)
