"""Which layer an operator's name speaks of."""

from __future__ import annotations

import pytest

from stethoscope.compare.convert.ways_round import Origins
from stethoscope.types import Architecture, Layer


def origins(format_id: str, version: str, *paths: str) -> Origins:
    layers = tuple(Layer(path, "Dense", (None, 3), 0, 0, "float32") for path in paths)
    return Origins(Architecture(format_id, version, 0, None, (), (), layers))


@pytest.mark.parametrize(
    ("operator", "layer"),
    [
        ("model_1/dense_1/MatMul", "dense"),
        ("model_1/dense_1_1/MatMul:0", "dense_1"),
        ("model_1/block_1/query_1/einsum/Einsum", "block/query"),
        ("model_1/dense_1/add_1", "dense"),
        ("StatefulPartitionedCall/model_1/dense_1/MatMul;model_1/dense_1/BiasAdd", "dense"),
        ("somewhere/else", ""),
    ],
)
def test_keras_3_numbers_its_scopes(operator, layer):
    assert origins("keras", "Keras 3.15.1", "dense", "dense_1", "add", "block/query").layer(operator) == layer


@pytest.mark.parametrize(
    ("operator", "layer"), [("model_1/dense_1/MatMul", "dense_1"), ("model_1/dense/MatMul", "dense"), ("x/other", "")]
)
def test_keras_2_does_not(operator, layer):
    assert origins("keras_h5", "Keras 2.15.0", "dense", "dense_1").layer(operator) == layer


def test_the_operators_of_a_graph_are_its_layers():
    found = origins("saved_model", "TensorFlow 2.21.0", "net/dense/MatMul", "net/dense/BiasAdd")
    assert found.layer("PartitionedCall_1/net/dense/BiasAdd:0") == "net/dense/BiasAdd"


def test_an_operation_that_is_a_layer_by_itself_is_known_by_its_type():
    layers = tuple(
        Layer(path, kind, (None, 3), 0, 0, "float32")
        for path, kind in (("tan", "Tan"), ("first", "Sin"), ("second", "Sin"))
    )
    found = Origins(Architecture("keras", "Keras 3.15.1", 0, None, (), (), layers))
    assert found.layer("functional_1_1/Tan") == "tan"
    assert found.layer("functional_1_1/Sin") == "", "either could be meant"
