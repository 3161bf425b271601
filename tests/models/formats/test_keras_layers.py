"""Inferred shapes and counts of every common Keras layer, against what Keras itself says."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stethoscope.models.formats import detect
from stethoscope.types import ModelFile
from tests.conftest import ALL
from tests.tables import each

IMAGE = (8, 9, 4)
SERIES = (7, 5)
VOLUME = (6, 6, 6, 2)

# expression over `L` (keras.layers) → input shapes without the batch dimension
BOTH = {
    "L.Dense(3)": [(5,)],
    "L.Dense(3, use_bias=False, activation='relu')": [SERIES],
    "L.EinsumDense('...x,xyz->...yz', output_shape=(2, 3), bias_axes='yz')": [SERIES],
    "L.Embedding(11, 6)": [(7,)],
    "L.Activation('tanh')": [(5,)],
    "L.LeakyReLU()": [(5,)],
    "L.PReLU()": [IMAGE],
    "L.PReLU(shared_axes=[1, 2])": [IMAGE],
    "L.ELU()": [(5,)],
    "L.Softmax()": [(5,)],
    "L.Conv1D(6, 3, strides=2, padding='same')": [SERIES],
    "L.Conv1D(6, 3, padding='causal', dilation_rate=2)": [SERIES],
    "L.Conv2D(6, 3)": [IMAGE],
    "L.Conv2D(6, (3, 2), strides=(2, 1), padding='same', use_bias=False)": [IMAGE],
    "L.Conv2D(6, 3, dilation_rate=2)": [IMAGE],
    "L.Conv2D(6, 3, groups=2)": [IMAGE],
    "L.Conv2D(6, 3, data_format='channels_first')": [(4, 8, 9)],
    "L.Conv3D(3, 2, strides=2)": [VOLUME],
    "L.Conv1DTranspose(6, 3, strides=2)": [SERIES],
    "L.Conv2DTranspose(6, 3, strides=2, padding='same')": [IMAGE],
    "L.Conv2DTranspose(6, 3, strides=2)": [IMAGE],
    "L.Conv2DTranspose(6, 3, strides=2, padding='same', output_padding=1)": [IMAGE],
    "L.Conv3DTranspose(3, 2, strides=2)": [VOLUME],
    "L.DepthwiseConv1D(3, depth_multiplier=2)": [SERIES],
    "L.DepthwiseConv2D(3, strides=2, padding='same', depth_multiplier=2)": [IMAGE],
    "L.SeparableConv1D(6, 3)": [SERIES],
    "L.SeparableConv2D(6, 3, depth_multiplier=2)": [IMAGE],
    "L.MaxPooling1D(2)": [SERIES],
    "L.MaxPooling2D((2, 3), padding='same')": [IMAGE],
    "L.MaxPooling2D(3, strides=1)": [IMAGE],
    "L.AveragePooling2D(2, data_format='channels_first')": [(4, 8, 9)],
    "L.AveragePooling3D(2)": [VOLUME],
    "L.GlobalAveragePooling1D()": [SERIES],
    "L.GlobalMaxPooling2D(keepdims=True)": [IMAGE],
    "L.GlobalAveragePooling2D(data_format='channels_first')": [IMAGE],
    "L.GlobalAveragePooling3D()": [VOLUME],
    "L.LSTM(4)": [SERIES],
    "L.LSTM(4, return_sequences=True, use_bias=False)": [SERIES],
    "L.LSTM(4, return_state=True)": [SERIES],
    "L.LSTM(4, return_sequences=True, return_state=True, go_backwards=True)": [SERIES],
    "L.GRU(4)": [SERIES],
    "L.GRU(4, reset_after=False, return_sequences=True)": [SERIES],
    "L.SimpleRNN(4, return_state=True)": [SERIES],
    "L.RNN(L.GRUCell(4), return_sequences=True)": [SERIES],
    "L.RNN([L.LSTMCell(4), L.LSTMCell(3)])": [SERIES],
    "L.RNN(L.StackedRNNCells([L.SimpleRNNCell(4), L.GRUCell(6)]), return_sequences=True)": [SERIES],
    "L.Bidirectional(L.LSTM(4))": [SERIES],
    "L.Bidirectional(L.LSTM(4, return_sequences=True), merge_mode='sum')": [SERIES],
    "L.Bidirectional(L.GRU(4), merge_mode=None)": [SERIES],
    "L.Bidirectional(L.LSTM(4), backward_layer=L.GRU(4, go_backwards=True))": [SERIES],
    "L.TimeDistributed(L.Dense(3))": [SERIES],
    "L.TimeDistributed(L.Conv2D(3, 2))": [(5, *IMAGE)],
    "L.ConvLSTM1D(3, 2)": [(5, 7, 2)],
    "L.ConvLSTM2D(3, 2, padding='same', return_sequences=True)": [(5, 6, 6, 2)],
    "L.ConvLSTM2D(3, 2, strides=2)": [(5, 6, 6, 2)],
    "L.BatchNormalization()": [IMAGE],
    "L.BatchNormalization(axis=1, scale=False)": [IMAGE],
    "L.BatchNormalization(center=False, trainable=False)": [IMAGE],
    "L.LayerNormalization()": [SERIES],
    "L.LayerNormalization(axis=[1, 2], center=False)": [SERIES],
    "L.GroupNormalization(groups=2)": [IMAGE],
    "L.UnitNormalization()": [SERIES],
    "L.Normalization()": [(5,)],
    "L.Normalization(axis=None)": [(5,)],
    "L.Normalization(mean=1.0, variance=2.0)": [(5,)],
    "L.Add()": [(5,), (5,)],
    "L.Subtract()": [IMAGE, IMAGE],
    "L.Multiply()": [(8, 9, 4), (1, 1, 4)],
    "L.Average()": [(5,), (5,), (5,)],
    "L.Maximum()": [(5,), (5,)],
    "L.Minimum()": [(5,), (5,)],
    "L.Concatenate()": [(5,), (6,)],
    "L.Concatenate(axis=1)": [(8, 9, 4), (2, 9, 4)],
    "L.Dot(axes=1)": [(5,), (5,)],
    "L.Dot(axes=(2, 1))": [(3, 5), (5, 4)],
    "L.Flatten()": [IMAGE],
    "L.Reshape((6, -1))": [IMAGE],
    "L.Permute((3, 1, 2))": [IMAGE],
    "L.RepeatVector(3)": [(5,)],
    "L.ZeroPadding1D(2)": [SERIES],
    "L.ZeroPadding1D((1, 0))": [SERIES],
    "L.ZeroPadding2D(((1, 2), (3, 4)))": [IMAGE],
    "L.ZeroPadding2D((1, 2))": [IMAGE],
    "L.ZeroPadding3D(1)": [VOLUME],
    "L.Cropping1D((1, 2))": [SERIES],
    "L.Cropping2D(((1, 2), (3, 1)))": [IMAGE],
    "L.Cropping3D(1)": [VOLUME],
    "L.UpSampling1D(3)": [SERIES],
    "L.UpSampling2D((2, 3))": [IMAGE],
    "L.UpSampling3D(2)": [VOLUME],
    "L.Dropout(0.5, seed=1)": [(5,)],
    "L.SpatialDropout1D(0.5)": [SERIES],
    "L.GaussianNoise(0.5)": [(5,)],
    "L.Masking()": [SERIES],
    "L.Attention(use_scale=True)": [SERIES, (4, 5)],
    "L.Attention(score_mode='concat')": [SERIES, (4, 5)],
    "L.AdditiveAttention()": [SERIES, (4, 5)],
    "L.Rescaling(0.5)": [IMAGE],
    "L.Resizing(4, 5)": [IMAGE],
    "L.CenterCrop(4, 5)": [IMAGE],
    "L.RandomFlip(seed=1)": [IMAGE],
    "L.CategoryEncoding(num_tokens=6, output_mode='multi_hot')": [(5,)],
    "L.Discretization([0.0, 1.0])": [(5,)],
}
KERAS_3 = {
    "L.SpectralNormalization(L.Dense(3))": [(5,)],
    "L.RMSNormalization()": [SERIES],
    "L.LSTM(4, stateful=False, seed=3, dropout=0.2)": [SERIES],
    "L.AdaptiveAveragePooling2D(3)": [IMAGE],
    "L.Conv2DTranspose(6, 3, strides=2, dilation_rate=1, padding='valid', output_padding=1)": [IMAGE],
}
TF_KERAS = {
    "L.EinsumDense('abc,cd->abd', output_shape=(None, 6), bias_axes='d')": [SERIES],
    "L.LocallyConnected1D(3, 2)": [SERIES],
    "L.LocallyConnected2D(3, 2)": [IMAGE],
    "L.ThresholdedReLU()": [(5,)],
}
ATTENTION = [
    "L.GroupQueryAttention(head_dim=4, num_query_heads=4, num_key_value_heads=2)",
    "L.MultiHeadAttention(2, 3)",
    "L.MultiHeadAttention(2, 3, value_dim=4, output_shape=7, use_bias=False)",
]


def _frameworks() -> dict[str, Any]:
    import keras
    import tf_keras

    return {"keras": keras, "tf_keras": tf_keras}


@pytest.fixture(scope="module")
def built() -> Callable[[str, Callable[[Any], Any]], Any]:
    """Builds the model of a case with a package, once."""
    frameworks = _frameworks()
    return functools.cache(lambda package, build: build(frameworks[package]))


@pytest.fixture(scope="module")
def frameworks() -> dict[str, Any]:
    return _frameworks()


def _single(keras: Any, expression: str, shapes: list[tuple[int, ...]]) -> Any:
    layers = keras.layers
    inputs = [keras.Input(shape, dtype="int32" if "Embedding" in expression else "float32") for shape in shapes]
    layer = eval(expression, {"L": layers})
    return keras.Model(inputs, layer(inputs if len(inputs) > 1 else inputs[0]))


def _attention(keras: Any, expression: str, *, masked: bool) -> Any:
    query, value = keras.Input(SERIES), keras.Input((6, 5 if "Group" in expression else 4))
    layer = eval(expression, {"L": keras.layers})
    if not masked:
        return keras.Model([query, value], layer(query, value))
    mask = keras.Input((SERIES[0], 6))
    return keras.Model([query, value, mask], layer(query, value, attention_mask=mask))


CASES: list[tuple[str, str, Callable[[Any], Any]]] = [
    (package, expression, lambda keras, e=expression, s=shapes: _single(keras, e, s))
    for package, table in (("keras", BOTH | KERAS_3), ("tf_keras", BOTH | TF_KERAS))
    for expression, shapes in table.items()
] + [
    (package, f"{expression}{' masked' * masked}", lambda keras, e=expression, m=masked: _attention(keras, e, masked=m))
    for package in ("keras", "tf_keras")
    for expression in ATTENTION
    for masked in (False, True)
    if package == "keras" or "Group" not in expression
]


@each(("package", "expression", "build"), CASES)
def test_layers_are_described_as_keras_reports_them(
    package: str, expression: str, build: Callable[[Any], Any], built: Callable[..., Any], tmp_path: Path
) -> None:
    model = built(package, build)
    # One kind of file for either Keras, by turns: `make test-all` has both.
    turn = [expression for _, expression, _ in CASES].index(expression) + (package == "keras")
    for suffix in (".keras", ".h5") if ALL else (".keras", ".h5")[turn % 2 :][:1]:
        path = tmp_path / f"model{suffix}"
        model.save(path)
        file = ModelFile.at(path)
        described = detect(file).describe(file)
        assert described.parameters == model.count_params(), suffix
        assert described.trainable_parameters == _count(model.trainable_weights), suffix
        assert tuple(spec.shape for spec in described.outputs) == tuple(tuple(t.shape) for t in model.outputs), suffix
        assert not described.hazards
        assert not [warning for warning in described.warnings if "channels first" not in warning]


def test_counts_come_from_the_settings_when_there_are_no_weights(
    frameworks: dict[str, Any], built: Callable[..., Any]
) -> None:
    from stethoscope.models.formats.keras_model.keras_config import parse_network
    from stethoscope.models.formats.keras_model.keras_parameters import count_parameters
    from stethoscope.models.formats.keras_model.keras_shapes import follow

    for package, expression, build in CASES:
        model = built(package, build)
        layer_config = json.loads(json.dumps(frameworks[package].saving.serialize_keras_object(model)))
        network = parse_network("model", layer_config)
        assert network is not None
        shapes, flows = follow(network)
        counts = count_parameters("model", network, flows, None, package == "keras")
        assert sum(total for total, _ in counts.by_path.values()) == model.count_params(), (package, expression)
        assert counts.unknown == [], (package, expression)
        assert shapes == [tuple(t.shape) for t in model.outputs], (package, expression)


def _count(weights: Any) -> int:
    import math

    return sum(math.prod(weight.shape) for weight in weights)
