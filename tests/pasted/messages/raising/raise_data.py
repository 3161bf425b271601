"""Arrays, data sets and generators."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import tensorflow as tf


def _model(loss="mse"):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("adam", loss)
    return model


def object_array(here: Path):
    rows = np.empty(3, object)
    rows[:] = [[1, 2, 3], [4, 5], [6]]
    tf.convert_to_tensor(rows)


def string_to_number(here: Path):
    _model().fit(np.zeros((2, 3)), np.array(["cat", "dog"]), verbose=0)


def text_not_number(here: Path):
    np.array(["1.0", "unknown"]).astype("float32")


def index_beyond_table(here: Path):
    model = keras.Sequential(
        [keras.Input((6,)), keras.layers.Embedding(5000, 8), keras.layers.Flatten(), keras.layers.Dense(1)]
    )
    model.predict(np.full((1, 6), 10000), verbose=0)


def data_ran_out(here: Path):
    rows = tf.data.Dataset.from_tensor_slices((np.zeros((20, 3)), np.zeros((20, 1)))).batch(4)
    _model().fit(rows, epochs=3, steps_per_epoch=4, verbose=0)


def data_set_and_targets(here: Path):
    rows = tf.data.Dataset.from_tensor_slices(np.zeros((20, 3))).batch(4)
    _model().fit(rows, np.zeros((20, 1)), verbose=0)


def generator_element(here: Path):
    def rows():
        yield np.zeros((28, 28)), 0

    spec = (tf.TensorSpec((28, 28, 1), tf.float32), tf.TensorSpec((), tf.int32))
    next(iter(tf.data.Dataset.from_generator(rows, output_signature=spec)))


def batch_of_unequal(here: Path):
    sizes = tf.data.Dataset.from_tensor_slices([3, 5]).map(lambda n: tf.zeros([n]))
    next(iter(sizes.batch(2)))


def image_format(here: Path):
    tf.io.decode_image(b"<!DOCTYPE html><html>not found</html>")


def no_images(here: Path):
    (here / "photos").mkdir()
    keras.utils.image_dataset_from_directory(str(here / "photos"))


def file_not_found(here: Path):
    names = tf.data.Dataset.from_tensor_slices(["photos/1.jpg"])
    next(iter(names.map(tf.io.read_file)))


def validation_split_of_data_set(here: Path):
    rows = tf.data.Dataset.from_tensor_slices((np.zeros((20, 3)), np.zeros((20, 1)))).batch(4)
    _model().fit(rows, validation_split=0.2, verbose=0)


def empty_data(here: Path):
    _model().predict(np.zeros((0, 3)), verbose=0)


def unrecognised_data(here: Path):
    _model().fit([[1.0, 2.0, 3.0]], [[1.0]], verbose=0) if False else _model().fit(object(), verbose=0)


def record_feature(here: Path):
    example = tf.train.Example().SerializeToString()
    tf.io.parse_single_example(example, {"image": tf.io.FixedLenFeature([], tf.string)})


def record_damaged(here: Path):
    (here / "rows.tfrecord").write_bytes(b"\x01" * 64)
    next(iter(tf.data.TFRecordDataset(str(here / "rows.tfrecord"))))


def ragged_rows(here: Path):
    np.array([[1, 2, 3], [4, 5]], dtype="float32")


def string_to_number__tokens(here: Path):
    keras.layers.Embedding(10, 4)(tf.constant([["a", "b"]]))


def map_arguments(here: Path):
    import tensorflow as tf

    tf.data.Dataset.from_tensor_slices((np.zeros((4, 2)), np.zeros(4))).map(lambda x: x)


def list_not_array(here: Path):
    rows = [[0.0, 1.0], [2.0, 3.0]]
    print(rows.shape)
