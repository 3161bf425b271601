"""Receptive fields: against published sizes, and against what gradients of a live model really depend on."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.architecture.receptive_field import receptive_fields
from stethoscope.types import Architecture
from tests.architecture.keras_files import described
from tests.frameworks import keras
from tests.frameworks import layers as L


def depends_on(model, size: int) -> np.ndarray:
    """Input rows and columns that the middle value of the output depends on, by its gradient with positive weights."""
    import tensorflow as tf

    for variable in model.trainable_variables:
        variable.assign(tf.ones_like(variable) * 0.1)
    x = tf.Variable(tf.random.uniform((1, size, size, 1), 1.0, 2.0, seed=1))
    with tf.GradientTape() as tape:
        y = model(x, training=False)
        middle = y[0, y.shape[1] // 2, y.shape[2] // 2, 0]
    return np.abs(tape.gradient(middle, x).numpy()[0, :, :, 0]) > 0


def straight():
    return [
        L.Conv2D(2, 3, padding="same"),
        L.AveragePooling2D(2),
        L.Conv2D(2, 3, dilation_rate=2, padding="same"),
        L.Conv2D(1, 5, strides=2),
    ]


def up_again():
    return [
        L.Conv2D(2, 3, padding="same"),
        L.AveragePooling2D(2),
        L.Conv2D(2, 3, padding="same"),
        L.Conv2DTranspose(1, 4, strides=2, padding="same"),
    ]


def upsampled():
    return [L.AveragePooling2D(4), L.UpSampling2D(2), L.Conv2D(1, 3, padding="same")]


def separable():
    return [L.ZeroPadding2D(2), L.SeparableConv2D(3, 5), L.DepthwiseConv2D(3, strides=2), L.Conv2D(1, 1)]


@pytest.mark.parametrize(("build", "slack"), [(straight, 0), (up_again, 2), (upsampled, 4), (separable, 0)])
def test_it_is_what_the_gradient_says(build, slack, tmp_path):
    """Fields of resizing layers differ by position: the theory gives the largest."""
    layers = build()
    model = keras.Sequential([keras.Input((64, 64, 1)), *layers], name="chain")
    found = receptive_fields(described(model, tmp_path))[layers[-1].name]
    seen = depends_on(model, 64)
    rows = np.flatnonzero(seen.any(1))
    extent = rows[-1] - rows[0] + 1
    assert extent <= found.size[0] <= extent + slack
    at = model.output_shape[1] // 2
    middle = found.offset[0] + at * found.stride[0]
    assert abs(middle - (rows[0] + rows[-1]) / 2) <= slack / 2


def test_the_widest_branch_counts(tmp_path):
    x = keras.Input((32, 32, 1))
    wide = L.Conv2D(1, 7, padding="same")(L.Conv2D(1, 5, padding="same")(x))
    joined = L.Add(name="joined")([wide, L.Conv2D(1, 3, padding="same")(x)])
    model = keras.Model(x, joined, name="branches")
    found = receptive_fields(described(model, tmp_path))["joined"]
    assert found.size == (11, 11)
    rows = np.flatnonzero(depends_on(model, 32).any(1))
    assert len(rows) == 11


@pytest.mark.parametrize(
    "layers",
    [
        lambda: [L.GlobalAveragePooling2D(name="last")],
        lambda: [L.Flatten(), L.Dense(2, name="last")],
        lambda: [L.GroupNormalization(1, name="last")],
        lambda: [L.Reshape((-1, 2)), L.LSTM(3, name="last")],
    ],
)
def test_what_sees_everything_is_global(layers, tmp_path):
    model = keras.Sequential([keras.Input((8, 8, 1)), L.Conv2D(2, 3, name="conv"), *layers()], name="whole")
    found = receptive_fields(described(model, tmp_path))
    assert not found["conv"].is_global
    assert found["last"].is_global


def test_squeeze_and_excite_is_global_and_keeps_its_local_size(tmp_path):
    x = keras.Input((16, 16, 2))
    conv = L.Conv2D(4, 3, padding="same", name="conv")(x)
    gate = L.Dense(4, activation="sigmoid")(L.GlobalAveragePooling2D(keepdims=True)(conv))
    model = keras.Model(x, L.Multiply(name="scaled")([conv, gate]), name="gate")
    found = receptive_fields(described(model, tmp_path))["scaled"]
    assert found.is_global
    assert found.size == (3, 3)


@pytest.mark.parametrize(
    ("name", "layer", "size"),
    [("VGG16", "block5_pool", 212), ("MobileNet", "conv_pw_13_relu", 315), ("InceptionV3", "mixed10", 1311)],
)
def test_published_sizes(name, layer, size, tmp_path):
    """Source: distill.pub/2019/computing-receptive-fields, table of architectures."""
    model = getattr(keras.applications, name)(weights=None, input_shape=(299, 299, 3), include_top=False)
    assert receptive_fields(described(model, tmp_path))[layer].size == (size, size)


def test_a_model_without_windows_has_none(tmp_path):
    model = keras.Sequential([keras.Input((4,)), L.Dense(3)], name="table")
    assert receptive_fields(described(model, tmp_path)) == {}
    assert receptive_fields(Architecture("keras", "", 0, 0, (), (), ())) == {}


def seen_by(model, at: tuple[int, ...]) -> list[tuple[int, int]]:
    """(first, last) place along each axis of the first input that one value of the output depends on, by its gradient."""
    import tensorflow as tf

    for variable in model.trainable_variables:
        variable.assign(tf.ones_like(variable) * 0.1)
    inputs = [tf.random.uniform((1, *spec.shape[1:]), 1.0, 2.0, seed=1) for spec in model.inputs]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        value = model(inputs if len(inputs) > 1 else inputs[0], training=False)[at]
    seen = np.abs(tape.gradient(value, inputs[0]).numpy()[0]) > 0
    places = [
        np.flatnonzero(seen.any(tuple(other for other in range(seen.ndim) if other != axis))) for axis in range(2)
    ]
    return [(int(where[0]), int(where[-1])) for where in places]


def turned(x):
    y = L.Conv2D(2, (3, 1), padding="same")(x)
    return L.Conv2D(1, (5, 1), padding="same")(L.Permute((2, 1, 3))(y))


def turned_by_an_operation(x):
    y = L.Conv2D(2, (3, 1), padding="same")(x)
    return L.Conv2D(1, (5, 1), padding="same")(keras.ops.transpose(y, (0, 2, 1, 3)))


@pytest.mark.parametrize("build", [turned, turned_by_an_operation])
def test_axes_that_change_places_take_their_fields_along(build, tmp_path):
    x = keras.Input((24, 20, 1))
    out = build(x)
    model = keras.Model(x, out, name=build.__name__)
    layer = model.layers[-1].name
    found = receptive_fields(described(model, tmp_path))[layer]
    rows, columns = seen_by(model, (0, 10, 12, 0))
    # Rows of the output are columns of the input: each is asked for by the axis of the input that it depends on.
    assert sorted(found.size) == sorted([rows[1] - rows[0] + 1, columns[1] - columns[0] + 1]) == [3, 5]


def test_a_causal_window_sees_only_what_came_before(tmp_path):
    x = keras.Input((30, 1))
    model = keras.Model(x, L.Conv1D(1, 3, dilation_rate=2, padding="causal", name="past")(x), name="causal")
    found = receptive_fields(described(model, tmp_path))["past"]
    ((first, last), _) = seen_by(model, (0, 20, 0))
    assert found.size[0] == last - first + 1 == 5
    assert found.offset[0] + 20 * found.stride[0] == (first + last) / 2


@pytest.mark.parametrize("first", [True, False])
def test_a_product_of_two_tensors_keeps_the_rows_of_its_first_and_the_columns_of_its_second(first, tmp_path):
    x = keras.Input((12, 1), name="x")
    y = L.Conv1D(4, 3, padding="same")(x)
    z = keras.Input((4, 5) if first else (5, 4), name="z")
    product = keras.ops.matmul(y, z) if first else keras.ops.matmul(z, keras.ops.transpose(y, (0, 2, 1)))
    model = keras.Model([x, z], L.Activation("relu", name="end")(product), name=f"product_{first}")
    found = receptive_fields(described(model, tmp_path))["end"]
    ((low, high), _) = seen_by(model, (0, 6, 2) if first else (0, 2, 6))
    assert found.size[0] == high - low + 1 == 3
