"""Computed gradients against measured slopes, on small networks."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.training.gathering.blocked_layers import gradient_errors, has_suspects
from tests.frameworks import keras


def network(middle):
    keras.utils.set_random_seed(3)
    inputs = keras.Input((4,))
    hidden = keras.layers.Dense(8, activation="tanh", name="hidden")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(1, name="last")(middle(hidden)))
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(16, 4)).astype("float32"), generator.normal(size=(16, 1)).astype("float32")
    layers = [(layer.name, layer) for layer in model.layers]
    return layers, lambda: keras.ops.mean((model(x, training=False) - y) ** 2)


def test_a_sound_network_has_no_errors_and_keeps_its_weights():
    layers, loss = network(lambda value: value)
    before = float(loss())
    assert all(error.relative_error < 0.05 for error in gradient_errors(layers, loss))
    assert float(loss()) == before


def test_a_gradient_that_is_cut_off_is_seen_in_the_layer_before():
    layers, loss = network(keras.ops.stop_gradient)
    errors = {error.layer: error.relative_error for error in gradient_errors(layers, loss)}
    assert errors["hidden"] == pytest.approx(1)
    assert errors["last"] < 0.05


def test_only_operations_that_may_be_wrong_are_suspects():
    inputs = keras.Input((4,))
    plain = keras.layers.Dense(2)(inputs)
    assert not has_suspects(keras.Model(inputs, plain).operations, [keras.losses.MeanSquaredError()])
    assert has_suspects(keras.Model(inputs, keras.ops.stop_gradient(plain)).operations)
    assert has_suspects([], [lambda truth, guess: guess - truth])


def test_a_wrong_sign_is_seen():
    import tensorflow as tf

    @tf.custom_gradient
    def flipped(value):
        return value, lambda upstream: -upstream

    layers, _ = network(lambda value: value)
    hidden, last = layers[1][1], layers[2][1]
    x = np.random.default_rng(1).normal(size=(16, 4)).astype("float32")
    errors = gradient_errors(layers, lambda: tf.reduce_mean(last(flipped(hidden(x))) ** 2))
    assert max(error.relative_error for error in errors if error.layer == "hidden") > 0.5
