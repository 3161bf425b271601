"""The layers computed in numpy, against Keras itself."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.parity.recompute import computed
from stethoscope.types import Layer

keras = pytest.importorskip("keras")
L = keras.layers
PICTURE, ROW, SERIES = (9, 8, 4), (6,), (7, 5)

CASES = [
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
]


@pytest.mark.parametrize(("layer", "shape"), CASES, ids=lambda one: getattr(one, "name", str(one)))
def test_a_layer_gives_what_keras_gives(layer, shape):
    random = np.random.default_rng(0)
    x = random.standard_normal((3, *shape)).astype(np.float32)
    layer.build((None, *shape))
    for weight in layer.weights:
        weight.assign(random.uniform(0.2, 1.0, weight.shape))
    expected = np.asarray(layer(x))
    config = {
        key: value for key, value in layer.get_config().items() if isinstance(value, str | int | float | list | tuple)
    }
    described = Layer("layer", type(layer).__name__, None, 0, 0, "float32", ("x",), config)
    weights = {weight.name: np.asarray(weight, np.float64) for weight in layer.weights}
    found = computed(described, [x.astype(np.float64)], weights)
    assert found is not None
    np.testing.assert_allclose(found, expected, atol=2e-5, rtol=1e-4)


def test_what_is_not_known_is_not_guessed():
    assert computed(Layer("x", "LSTM", None, 0, 0, ""), [np.zeros((1, 3, 2))], {}) is None
    grouped = Layer("x", "Conv2D", None, 0, 0, "", (), {"groups": 2})
    assert computed(grouped, [np.zeros((1, 4, 4, 4))], {"kernel": np.zeros((3, 3, 2, 4))}) is None
