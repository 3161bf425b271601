"""Shapes that do not go together, in layers and in operations."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import tensorflow as tf


def _compiled(*layers, loss="mse"):
    model = keras.Sequential(layers)
    model.compile("adam", loss)
    return model


def input_rank(here: Path):
    model = _compiled(
        keras.Input((28, 28, 1)), keras.layers.Conv2D(8, 3), keras.layers.Flatten(), keras.layers.Dense(10)
    )
    keras.layers.Conv2D(8, 3, name="conv_1")(np.zeros((32, 28, 28), "float32"))
    return model


def input_axis(here: Path):
    layer = keras.layers.Dense(10, name="dense_1")
    layer.build((None, 784))
    layer(np.zeros((32, 28, 28), "float32"))


def input_axis__flattened(here: Path):
    model = _compiled(keras.Input((28, 28, 1)), keras.layers.Flatten(), keras.layers.Dense(1))
    model.predict(np.zeros((4, 32, 32, 3), "float32"), verbose=0)


def number_of_inputs(here: Path):
    left, right = keras.Input((3,), name="left"), keras.Input((4,), name="right")
    model = keras.Model([left, right], keras.layers.Dense(1)(keras.layers.concatenate([left, right])))
    model.predict(np.zeros((4, 3), "float32"), verbose=0)


def input_structure(here: Path):
    left, right = keras.Input((3,), name="left"), keras.Input((4,), name="right")
    model = keras.Model([left, right], keras.layers.Dense(1)(keras.layers.concatenate([left, right])))
    model.predict({"left": np.zeros((4, 3), "float32")}, verbose=0)


def target_structure(here: Path):
    entry = keras.Input((3,))
    model = keras.Model(
        entry, {"a": keras.layers.Dense(1, name="a")(entry), "b": keras.layers.Dense(2, name="b")(entry)}
    )
    model.compile("adam", {"a": "mse", "b": "mse"})
    model.fit(np.zeros((4, 3)), {"a": np.zeros((4, 1))}, verbose=0)


def broadcast_shapes(here: Path):
    class Weighted(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_mean((y_pred - y_true) * tf.range(10, dtype=tf.float32))

    model = _compiled(keras.Input((5,)), keras.layers.Dense(4), loss=Weighted())
    model.fit(np.zeros((32, 5), "float32"), np.zeros((32, 4), "float32"), verbose=0)


def matrix_sizes(here: Path):
    tf.matmul(tf.zeros((32, 100)), tf.zeros((64, 10)))


def concat_shapes(here: Path):
    entry = keras.Input((33, 33, 1))
    down = keras.layers.MaxPooling2D()(entry)
    keras.layers.Concatenate()([entry, keras.layers.UpSampling2D()(down)])


def merge_shapes(here: Path):
    keras.layers.Add()([keras.Input((32,)), keras.Input((64,))])


def reshape_size(here: Path):
    tf.reshape(tf.zeros((32, 10)), (-1, 3))


def reshape_size__layer(here: Path):
    keras.layers.Reshape((28, 28))(keras.Input((700,)))


def negative_dimension(here: Path):
    entry = keras.Input((4, 4, 1))
    keras.layers.Conv2D(8, 5, name="conv_3")(entry)


def conv_channels(here: Path):
    tf.nn.conv2d(tf.zeros((1, 8, 8, 1)), tf.zeros((3, 3, 3, 4)), 1, "SAME")


def cardinality(here: Path):
    model = _compiled(keras.Input((3,)), keras.layers.Dense(1))
    model.fit(np.zeros((100, 3)), np.zeros((80, 1)), verbose=0)


def operation_dtype(here: Path):
    tf.constant([1.0], tf.float64) * tf.constant([2.0], tf.float32)


def tensor_dtype(here: Path):
    tf.convert_to_tensor(tf.constant([1.0], tf.float64), dtype=tf.float32)


def unknown_rank(here: Path):
    rows = tf.data.Dataset.from_tensor_slices(np.zeros((4, 3), "float32"))
    rows = rows.map(lambda row: (tf.numpy_function(lambda x: x, [row], tf.float32), 0.0)).batch(2)
    _compiled(keras.layers.Flatten(), keras.layers.Dense(1)).fit(rows, verbose=0)


def slice_bounds(here: Path):
    rows = tf.zeros((3, 4))
    rows[5]


def duplicate_layer_names(here: Path):
    entry = keras.Input((3,))
    hidden = keras.layers.Dense(4, name="dense")(entry)
    keras.Model(entry, keras.layers.Dense(4, name="dense")(hidden))


def disconnected_graph(here: Path):
    first, other = keras.Input((3,), name="first"), keras.Input((3,), name="other")
    keras.Model(first, keras.layers.Add()([first, other]))


def model_input_shape(here: Path):
    entry = keras.Input((28, 28, 1), name="picture")
    model = keras.Model(entry, keras.layers.Conv2D(4, 3)(entry))
    model.predict(np.zeros((4, 32, 32, 3), "float32"), verbose=0)


def unequal_ranks(here: Path):
    import tensorflow as tf

    tf.function(lambda: tf.stack([tf.zeros(3), tf.zeros((3, 3))]))()


def unequal_ranks__eager(here: Path):
    import tensorflow as tf

    tf.stack([tf.zeros(3), tf.zeros((3, 3))])


def axis_out_of_range(here: Path):
    import tensorflow as tf

    tf.reduce_mean(tf.zeros((3, 4)), axis=2)


def axis_out_of_range__numpy(here: Path):
    np.zeros((3, 4)).mean(axis=2)


def operation_rank(here: Path):
    import tensorflow as tf

    tf.function(lambda x: tf.matmul(x, x))(tf.zeros(3))


def undefined_axis(here: Path):
    import keras

    keras.layers.Conv2D(4, 3)(keras.Input((8, 8, None)))


def undefined_axis__dense(here: Path):
    import keras

    keras.layers.Dense(4)(keras.Input((None,)))


def merge_needs_list(here: Path):
    import keras

    keras.layers.Add()(keras.Input((4,)))


def inputs_no_input(here: Path):
    import keras

    keras.Model(inputs=np.ones((1, 4), "float32"), outputs=keras.Input((4,)))


def loop_shape(here: Path):
    import tensorflow as tf

    def grow(rows):
        return (tf.concat([rows, rows], 0),)

    tf.function(lambda x: tf.while_loop(lambda r: tf.size(r) < 9, grow, [x]))(tf.zeros(1))


def nested_structure(here: Path):
    import tensorflow as tf

    tf.nest.assert_same_structure({"a": 1, "b": 2}, [1, 2])


def value_type(here: Path):
    import tensorflow as tf

    tf.function(lambda: tf.constant("low", tf.float32))()
