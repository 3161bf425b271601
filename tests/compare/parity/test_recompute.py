"""The layers computed in numpy, against Keras itself."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.parity.causes.recomputed import suspicions
from stethoscope.compare.parity.kernel_suspicions import Estimate
from stethoscope.compare.parity.recompute import computed
from stethoscope.models.formats.keras_model.keras_ends import readable_config
from stethoscope.types import Layer
from tests.frameworks import layers as L
from tests.tables import Cases

PICTURE, ROW, SERIES, VOLUME = (9, 8, 4), (6,), (7, 5), (4, 5, 6, 4)


def layers():
    """(a layer, the shape of a row it reads)."""
    return [
        (L.Conv2D(5, 3, padding="same"), PICTURE),
        (L.Conv2D(5, (3, 2), strides=2, padding="same", activation="relu"), PICTURE),
        (L.Conv2D(5, 3, dilation_rate=2, use_bias=False), PICTURE),
        (L.Conv1D(5, 3, padding="same", strides=2), SERIES),
        (L.DepthwiseConv2D(3, padding="same", depth_multiplier=2), PICTURE),
        (L.Dense(5, activation="softmax"), ROW),
        (L.Dense(5, activation="gelu"), SERIES),
        (L.BatchNormalization(epsilon=0.01), PICTURE),
        (L.LayerNormalization(epsilon=0.01), SERIES),
        (L.MaxPooling2D(2, padding="same"), PICTURE),
        (L.AveragePooling2D(3, strides=2, padding="same"), PICTURE),
        (L.UpSampling2D(2, interpolation="nearest"), PICTURE),
        (L.UpSampling2D(2, interpolation="bilinear"), PICTURE),
        (L.ZeroPadding2D(((1, 0), (2, 1))), PICTURE),
        (L.Rescaling(1 / 127.5, -1), PICTURE),
        (L.Flatten(), PICTURE),
        (L.ReLU(max_value=0.5), ROW),
        (L.LeakyReLU(0.1), ROW),
        (L.Activation("swish"), ROW),
        (L.Activation("elu"), ROW),
        (L.GlobalAveragePooling2D(), PICTURE),
        (L.GlobalMaxPooling1D(), SERIES),
        (L.SeparableConv2D(5, 3, strides=2, padding="same", activation="relu"), PICTURE),
        (L.Conv2DTranspose(5, 3, strides=2, padding="same"), PICTURE),
        (L.Conv2DTranspose(5, (2, 3), strides=(3, 1), padding="valid"), PICTURE),
        (L.Resizing(5, 11), PICTURE),
        (L.Resizing(5, 11, interpolation="nearest"), PICTURE),
        (L.LSTM(4, return_sequences=True), SERIES),
        (L.LSTM(4, go_backwards=True, activation="relu", recurrent_activation="hard_sigmoid"), SERIES),
        (L.GRU(4), SERIES),
        (L.GRU(4, reset_after=False, return_sequences=True), SERIES),
        (L.SimpleRNN(4, use_bias=False), SERIES),
        (L.Conv1D(5, 3, padding="causal", dilation_rate=2), SERIES),
        (L.Conv2D(6, 3, groups=2, padding="same", activation="relu"), PICTURE),
        (L.Conv3D(3, (2, 3, 2), padding="same"), VOLUME),
        (L.DepthwiseConv1D(3, depth_multiplier=2, padding="same"), SERIES),
        (L.SeparableConv1D(6, 3, depth_multiplier=2, padding="same"), SERIES),
        (L.Conv1DTranspose(4, 3, strides=2, padding="same"), SERIES),
        (L.Conv1DTranspose(4, 4, strides=3), SERIES),
        (L.Conv1DTranspose(4, 3, strides=2, output_padding=1, padding="same"), SERIES),
        (L.Conv2DTranspose(4, 3, strides=2, output_padding=1), PICTURE),
        (L.Conv3DTranspose(3, (2, 3, 2), strides=2, padding="same"), VOLUME),
        (L.MaxPooling3D(2), VOLUME),
        (L.AveragePooling3D(2, padding="same"), VOLUME),
        (L.GlobalAveragePooling3D(), VOLUME),
        (L.GlobalMaxPooling3D(), VOLUME),
        (L.BatchNormalization(axis=1), PICTURE),
        (L.LayerNormalization(axis=[1, 2]), SERIES),
        (L.LayerNormalization(axis=1, center=False), PICTURE),
        (L.GroupNormalization(2), PICTURE),
        (L.GroupNormalization(-1, scale=False), PICTURE),
        (L.UnitNormalization(), SERIES),
        (L.UnitNormalization(axis=[1, 2]), SERIES),
        (L.RMSNormalization(), SERIES),
        (L.Normalization(mean=[1.0, 2, 3, 4, 5], variance=[0.5, 1, 2, 3, 4]), SERIES),
        (L.Normalization(mean=1.5, variance=2.0, axis=None, invert=True), SERIES),
        (L.PReLU(), SERIES),
        (L.PReLU(shared_axes=[1, 2]), PICTURE),
        (L.ELU(0.4), ROW),
        (L.ReLU(max_value=2.0, negative_slope=0.1, threshold=0.3), ROW),
        (L.Softmax(axis=1), SERIES),
        (L.Activation("leaky_relu"), ROW),
        (L.Activation("selu"), ROW),
        (L.Activation("mish"), ROW),
        (L.Permute((2, 1)), SERIES),
        (L.Reshape((4, -1)), PICTURE),
        (L.RepeatVector(3), ROW),
        (L.Cropping1D((1, 2)), SERIES),
        (L.Cropping2D(((1, 0), (2, 1))), PICTURE),
        (L.Cropping3D(1), VOLUME),
        (L.ZeroPadding1D((2, 1)), SERIES),
        (L.ZeroPadding3D(((1, 0), (2, 1), (0, 1))), VOLUME),
        (L.UpSampling1D(3), SERIES),
        (L.UpSampling3D((2, 1, 3)), VOLUME),
        (L.UpSampling2D(3, interpolation="bicubic"), PICTURE),
        (L.Resizing(5, 11, interpolation="bicubic"), PICTURE),
    ]


def merges():
    return [
        L.Subtract(),
        L.Maximum(),
        L.Minimum(),
        L.Average(),
        L.Dot(axes=2),
        L.Dot(axes=(1, 1), normalize=True),
        L.Concatenate(axis=1),
    ]


def test_layers_give_what_keras_gives():
    with Cases() as case:
        for layer, shape in layers():
            with case(layer.name, readable_config(layer.get_config())):
                random = np.random.default_rng(0)
                x = random.standard_normal((3, *shape)).astype(np.float32)
                layer.build((None, *shape))
                for weight in layer.weights:
                    weight.assign(random.uniform(0.2, 1.0, weight.shape))
                expected = np.asarray(layer(x))
                weights = {weight.name: np.asarray(weight, np.float64) for weight in layer.weights}
                found = computed(as_described(layer, "x"), [x.astype(np.float64)], weights)
                assert found is not None
                np.testing.assert_allclose(found, expected, atol=2e-5, rtol=1e-4)


def test_merges_give_what_keras_gives():
    random = np.random.default_rng(0)
    arrays = [random.standard_normal((3, 7, 5)) for _ in range(2)]
    with Cases() as case:
        for layer in merges():
            with case(layer.name):
                found = computed(as_described(layer, "x", "y"), arrays, {})
                expected = np.asarray(layer([one.astype(np.float32) for one in arrays]))
                np.testing.assert_allclose(found, expected, atol=1e-5)


def as_described(layer, *inputs):
    config = readable_config(layer.get_config())
    return Layer("layer", type(layer).__name__, None, 0, 0, "float32", inputs, config)


def test_embedding_gives_what_keras_gives():
    layer = L.Embedding(9, 4)
    tokens = np.random.default_rng(0).integers(0, 9, (3, 5))
    expected = np.asarray(layer(tokens))
    weights = {"embeddings": np.asarray(layer.weights[0], np.float64)}
    described = Layer("layer", "Embedding", None, 0, 0, "float32", ("x",), readable_config(layer.get_config()))
    np.testing.assert_allclose(computed(described, [tokens.astype(np.float64)], weights), expected, atol=1e-6)


@pytest.mark.parametrize("sequences", [True, False])
def test_both_directions_give_what_keras_gives(sequences):
    random = np.random.default_rng(0)
    layer = L.Bidirectional(L.GRU(3, return_sequences=sequences))
    x = random.standard_normal((2, *SERIES)).astype(np.float32)
    layer.build(x.shape)
    for weight in layer.weights:
        weight.assign(random.standard_normal(weight.shape))
    names = [f"{prefix}{name}" for prefix in ("", "backward_") for name in ("kernel", "recurrent_kernel", "bias")]
    weights = {name: np.asarray(value, np.float64) for name, value in zip(names, layer.get_weights(), strict=True)}
    described = Layer("both", "Bidirectional", None, 0, 0, "float32", ("x",), layer.get_config())
    found = computed(described, [x.astype(np.float64)], weights)
    np.testing.assert_allclose(found, np.asarray(layer(x)), atol=2e-5, rtol=1e-4)


def test_what_is_not_known_is_not_guessed():
    assert computed(Layer("x", "ConvLSTM2D", None, 0, 0, ""), [np.zeros((1, 3, 2))], {}) is None
    gated = Layer("x", "MultiHeadAttention", None, 0, 0, "", (), {"use_gate": True})
    assert computed(gated, [np.zeros((1, 4, 4))], {"query_kernel": np.zeros((4, 2, 2))}) is None


def test_every_suspicion_about_a_layer_can_be_tried():
    random = np.random.default_rng(0)
    for layer in (L.SeparableConv2D(5, 3), L.Conv2DTranspose(5, 3), L.DepthwiseConv2D(3), L.Conv2D(5, 3), L.LSTM(5)):
        shape = SERIES if layer.name.startswith("lstm") else PICTURE
        layer.build((None, *shape))
        weights = {one.name: random.standard_normal(one.shape) for one in layer.weights}
        described = Layer("layer", type(layer).__name__, None, 0, 0, "float32", ("x",), layer.get_config())
        x = random.standard_normal((2, *shape))
        tried = [one.of(0.5) if isinstance(one, Estimate) else one for one in suspicions(described, weights)]
        found = [computed(described, [x], {**weights, **one.weights}, one.settings) for one in tried]
        assert len(found) >= 5
        assert sum(one is not None for one in found) > 0.8 * len(found)
