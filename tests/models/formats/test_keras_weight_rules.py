"""Weights that a layer's settings promise are those that Keras makes, where no file of a sample has such a layer."""

from __future__ import annotations

from typing import Any

from stethoscope.models.formats.keras_model.keras_weights import expected_weights
from stethoscope.types import Shape
from tests.frameworks import keras, tf_keras
from tests.tables import each


def shapes(class_name: str, config: dict[str, Any], inputs: list[Shape | None], modern: bool) -> Any:
    found = expected_weights(class_name, config, inputs, modern)
    return None if found is None else [(weight.shape, weight.trainable) for weight in found]


def live(layer: Any, shape: Shape) -> list[tuple[tuple[int, ...], bool]]:
    layer.build(shape)
    trained = {id(weight) for weight in layer.trainable_weights}
    return [(tuple(weight.shape), id(weight) in trained) for weight in layer.weights]


@each("gates", ["CuDNNLSTM", "CuDNNGRU"])
def test_layers_that_ran_on_a_gpu_alone(gates: str) -> None:
    layer = getattr(tf_keras.layers, gates, None)
    if layer is None:
        from tf_keras.src.layers.rnn import cudnn_gru, cudnn_lstm

        layer = {"CuDNNLSTM": cudnn_lstm.CuDNNLSTM, "CuDNNGRU": cudnn_gru.CuDNNGRU}[gates]
    assert shapes(gates, {"units": 4}, [(None, 7, 5)], False) == live(layer(4), (None, 7, 5))


@each(
    ("package", "expression", "shape"),
    [
        ("tf_keras", "L.BatchNormalization(renorm=True)", (None, 6)),
        ("keras", "L.BatchNormalization(renorm=True)", (None, 6)),
        ("keras", "L.ReversibleEmbedding(11, 6, tie_weights=False)", (None, 7)),
        ("keras", "L.ReversibleEmbedding(11, 6)", (None, 7)),
        ("keras", "L.Embedding(11, 6)", (None, 7)),
        ("tf_keras", "L.GRU(4, reset_after=True)", (None, 7, 5)),
        ("keras", "L.PReLU(shared_axes=[1])", (None, 7, 5)),
        ("tf_keras", "L.LayerNormalization(axis=[1, 2])", (None, 7, 5)),
    ],
)
def test_weights_are_those_that_keras_makes(package: str, expression: str, shape: Shape) -> None:
    made = {"keras": keras, "tf_keras": tf_keras}[package]
    layer = eval(expression, {"L": made.layers})
    found = shapes(type(layer).__name__, layer.get_config(), [shape], package == "keras")
    # In which order Keras lists what is trained and what is not is its own affair.
    assert sorted(found) == sorted(live(layer, shape))


@each(
    ("class_name", "config", "inputs", "modern"),
    [
        ("Dense", {"units": 3}, [None], True),
        ("Dense", {"units": 3}, [(None, None)], True),
        ("Dense", {}, [(None, 4)], True),
        ("Dense", {"units": 3, "dtype": {"class_name": "QuantizedDTypePolicy"}}, [(None, 4)], True),
        ("Dense", {"units": 3, "dtype": "int8_from_float32"}, [(None, 4)], True),
        ("Dense", {"units": 3, "lora_rank": 2}, [(None, 4)], True),
        ("EinsumDense", {"equation": "ab,bc->ac", "output_shape": [3]}, [None], True),
        ("EinsumDense", {"equation": "ab,bc->ac", "output_shape": [3]}, [(None, None)], True),
        ("LocallyConnected1D", {"filters": 3, "kernel_size": 2, "implementation": 2}, [(None, 7, 5)], False),
        ("LocallyConnected1D", {"filters": 3, "kernel_size": 2}, [None], False),
        ("LocallyConnected1D", {"filters": 3, "kernel_size": 2}, [(None, None, 5)], False),
        ("PReLU", {}, [None], True),
        ("Normalization", {}, [None], True),
        ("RNN", {"cell": {"class_name": "MyCell", "config": {"units": 3}}}, [(None, 7, 5)], True),
        ("RNN", {}, [(None, 7, 5)], True),
        ("Bidirectional", {"layer": {"class_name": "MyLayer", "config": {}}}, [(None, 7, 5)], True),
        ("MyLayer", {"units": 3}, [(None, 4)], True),
    ],
)
def test_weights_that_do_not_follow_are_not_known(
    class_name: str, config: dict[str, Any], inputs: list[Shape | None], modern: bool
) -> None:
    assert expected_weights(class_name, config, inputs, modern) is None


def test_axes_are_read_as_a_list_that_keras_tracked_too() -> None:
    tracked = {"axis": {"class_name": "__tuple__", "items": [1, 2]}}
    assert shapes("LayerNormalization", tracked, [(None, 7, 5)], True) == [((7, 5), True)] * 2
