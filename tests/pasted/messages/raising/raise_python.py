"""What Python says of Keras and TensorFlow that are used otherwise than they are made for."""

from __future__ import annotations

import pickle
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from tests.pasted.messages.raising.capture import alone


def _model():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


_X, _Y = np.zeros((8, 3), "float32"), np.zeros((8, 1), "float32")


def none_taken(here: Path):
    found = _model().summary(print_fn=lambda line: None)
    return found[0]


def not_a_container(here: Path):
    return _model().fit(_X, _Y, verbose=0)["loss"]


def unpack_count(here: Path):
    _loss, _accuracy, _f1 = _X[:2]


def array_for_number(here: Path):
    return list(range(4))[np.array([1, 2])]


def layer_not_initialised(here: Path):
    class Scale(keras.layers.Layer):
        def __init__(self, units):
            self.units = keras.layers.Dense(units)

        def call(self, x):
            return self.units(x)

    Scale(4)(_X)


def callback_class(here: Path):
    class Report:
        def on_epoch_end(self, epoch, logs=None):
            print(epoch)

    _model().fit(_X, _Y, callbacks=[Report()], verbose=0)


def class_attribute(here: Path):
    return _model().get_output_at(0)


def class_names_lost(here: Path):
    for name in ("cat", "dog"):
        (here / name).mkdir()
        keras.utils.save_img(here / name / "a.png", np.zeros((8, 8, 3)))
    data = keras.utils.image_dataset_from_directory(here, image_size=(8, 8), verbose=False).prefetch(1)
    return data.class_names


def import_name_missing(here: Path):
    from numpy import tensordott  # noqa: F401


def no_such_layer(here: Path):
    _model().get_layer("dense_77")


def class_pickled(here: Path):
    pickle.loads(b"version https://git-lfs.github.com/spec/v1\n")


def weights_entry_missing(here: Path):
    import h5py

    with h5py.File(here / "a.h5", "w") as file:
        return file["layer_names"]


def output_shape_unknown(here: Path):
    def scale(x):
        raise RuntimeError("no values yet")

    keras.layers.Lambda(scale)(keras.Input((3,)))


def tf2onnx_check(here: Path):
    from tf2onnx.utils import make_sure

    make_sure(False, "Opset %s is needed for %s", 18, "Col2Im")


def argument_refused(here: Path):
    keras.layers.Dropout(50)


def operation_refused(here: Path):
    tf.raw_ops.Tile(input=tf.zeros((2, 3)), multiples=[1])


def loop_or_branch_variable(here: Path):
    @tf.function
    def count(x):
        for value in x:
            if value > 0:
                total = value
        return total

    count(tf.constant([1.0, 2.0]))


def tape_used_up(here: Path):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    tape.gradient(y, x)


def call_missing(here: Path):
    class Mine(keras.Model):
        def forward(self, x):
            return x

    Mine()(_X)


def eager_only(here: Path):
    return tf.constant(1.0).graph


def recurrent_list_shape(here: Path):
    values = tf.TensorArray(tf.float32, size=2, dynamic_size=False)
    values.write(5, tf.zeros((2,)))


def untracked_resource(here: Path):
    outside = [tf.Variable(1.0)]

    class Served(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec((), tf.float32)])
        def __call__(self, x):
            return x * outside[0]

    tf.saved_model.save(Served(), str(here))


def attributes_twice(here: Path):
    class Mine(keras.layers.Layer):
        def build(self, shape):
            self.bias = self.add_weight((3,), shape=(3,))

    Mine().build((None, 3))


def index_out_of_array(here: Path):
    return np.zeros(3)[0, 1]


def library_check(here: Path):
    keras.layers.Conv2D(10, 3, groups=3)


@alone
def batch_size_beside_data_set(here: Path):
    tf.compat.v1.disable_v2_behavior()
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    model.fit(tf.compat.v1.data.Dataset.from_tensor_slices((_X, _Y)).batch(4), batch_size=4, steps_per_epoch=2)


def return_not_tensor(here: Path):
    tf.data.Dataset.range(3).map(lambda x: object())


def mixed_value_types(here: Path):
    with tf.Graph().as_default():
        tf.concat([tf.zeros((2, 3)), tf.zeros((2, 3), tf.int32)], axis=0)


def log_folder_is_file(here: Path):
    (here / "logs").write_text("")
    tf.summary.create_file_writer(str(here / "logs")).flush()


def notice_slower_way(here: Path):
    keras.layers.Dense(4, input_shape=(3,))


def notice_saving(here: Path):
    import tf_keras

    path = str(here / "model.h5")
    tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(3,))]).save(path)
    tf_keras.models.load_model(path)
