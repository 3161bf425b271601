"""Saving and loading: Keras 2 and 3, HDF5, SavedModel, checkpoints."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import h5py
import keras
import numpy as np
import tensorflow as tf
import tf_keras


def _model(units=4, layers=2, name=None):
    parts = [keras.layers.Dense(units, name=f"hidden_{n}") for n in range(layers - 1)]
    return keras.Sequential([keras.Input((3,)), *parts, keras.layers.Dense(1, name="last")], name=name)


def unknown_class(here: Path):
    class Attention2(keras.layers.Layer):
        def call(self, x):
            return x

    keras.Sequential([keras.Input((3,)), Attention2()]).save("model.keras")
    del Attention2
    keras.models.load_model("model.keras")


def keras3_reads_no_savedmodel(here: Path):
    _model().export("exported")
    keras.models.load_model("exported")


def unrecognised_keywords(here: Path):
    _model().save("model.h5")
    tf_keras.models.load_model("model.h5")


def lambda_unsafe(here: Path):
    keras.Sequential([keras.Input((3,)), keras.layers.Lambda(lambda x: x * 2)]).save("model.keras")
    keras.models.load_model("model.keras")


def file_signature(here: Path):
    Path("model.h5").write_text("<!DOCTYPE html><html>Sign in to continue</html>")
    keras.models.load_model("model.h5")


def file_truncated(here: Path):
    _model(200).save("model.h5")
    Path("model.h5").write_bytes(Path("model.h5").read_bytes()[:9000])
    keras.models.load_model("model.h5")


def model_file_missing(here: Path):
    keras.models.load_model("models/best.keras")


def model_file_missing__h5(here: Path):
    h5py.File("weights/best.h5")


def weights_layer_count(here: Path):
    _model(layers=4).save_weights("a.weights.h5")
    model = tf_keras.Sequential([tf_keras.layers.Dense(4, input_shape=(3,)), tf_keras.layers.Dense(1)])
    model.save_weights("old.h5")
    tf_keras.Sequential([tf_keras.layers.Dense(4, input_shape=(3,))]).load_weights("old.h5")


def weights_shape(here: Path):
    _model(8).save_weights("a.weights.h5")
    _model(4).load_weights("a.weights.h5")


def weights_unbuilt(here: Path):
    model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
    model.save_weights("a.weights.h5")
    _model().load_weights("a.weights.h5")


def optimizer_state(here: Path):
    model = _model()
    model.compile("adam", "mse")
    model.fit(np.zeros((2, 3)), np.zeros((2, 1)), verbose=0)
    model.save("model.keras")
    loaded = keras.models.load_model("model.keras")
    loaded.layers[0].trainable = False
    loaded.compile("adam", "mse")
    loaded.optimizer.build(loaded.trainable_variables)
    loaded.load_weights("model.keras") if False else None
    loaded.save("frozen.keras")
    import json
    import zipfile

    with zipfile.ZipFile("model.keras") as old, zipfile.ZipFile("mixed.keras", "w") as new:
        config = json.loads(old.read("config.json"))
        config["config"]["layers"][1]["config"]["trainable"] = False
        for name in old.namelist():
            new.writestr(name, json.dumps(config) if name == "config.json" else old.read(name))
    keras.models.load_model("mixed.keras")


def pickled(here: Path):
    copy.deepcopy(tf.data.Dataset.range(3).make_initializable_iterator) if False else pickle.dumps(_locked())


def _locked():
    import threading

    model = _model()
    model.lock = threading.RLock()
    return {"model": model, "lock": model.lock}


def no_get_config(here: Path):
    class Scale(keras.layers.Layer):
        def __init__(self, factor, table):
            super().__init__()
            self.table = np.asarray(table)
            self.rest = keras.layers.Dense(1)
            self.factor = factor

        def call(self, x):
            return x * self.factor

    keras.Sequential([keras.Input((3,)), Scale(object(), {1: 2}) if False else Scale(tf.constant(2.0), [1])]).save(
        "model.keras"
    )


def file_suffix(here: Path):
    _model().save("model")


def file_suffix__weights(here: Path):
    _model().save_weights("model.h5")


def savedmodel_function(here: Path):
    class Module(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec((None, 3), tf.float32)])
        def __call__(self, x):
            return x * 2

    tf.saved_model.save(Module(), "exported")
    tf.saved_model.load("exported")(tf.zeros((2, 4)))


def savedmodel_missing(here: Path):
    tf.saved_model.load("exported/1")


def checkpoint_key(here: Path):
    tf.train.Checkpoint(model=tf.Variable(1.0)).save("ckpt")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.get_variable("dense/kernel", (3, 4))
        tf.compat.v1.train.Saver().restore(session, "ckpt-1")


def checkpoint_missing(here: Path):
    tf.train.load_checkpoint("runs/ckpt-100")


def mixed_keras(here: Path):
    keras.Sequential([keras.Input((3,)), tf_keras.layers.Dense(4)])


def set_weights_length(here: Path):
    keras.layers.Dense(4, name="dense_7")
    layer = keras.layers.Dense(4, name="dense_7")
    layer.build((None, 3))
    layer.set_weights([np.zeros((3, 4))])


def weights_shape__topology(here: Path):
    model = tf_keras.Sequential(
        [tf_keras.layers.Dense(4, input_shape=(3,), name="a"), tf_keras.layers.Dense(1, name="b")]
    )
    model.save_weights("old.h5")
    _model(8).load_weights("old.h5")


def model_file_missing__pointer(here: Path):
    Path("model.keras").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n")
    keras.models.load_model("model.keras")


def class_config(here: Path):
    @keras.saving.register_keras_serializable("own")
    class Scaled(keras.layers.Layer):
        def __init__(self, factor):
            super().__init__()
            self.factor = factor

        def call(self, x):
            return x * self.factor

        def get_config(self):
            return {"units": 3, **super().get_config()}

    keras.Sequential([keras.Input((3,)), Scaled(2.0)]).save("model.keras")
    keras.models.load_model("model.keras")


def unknown_function(here: Path):
    def focal(y_true, y_pred):
        return keras.ops.mean(y_true - y_pred)

    model = _model()
    model.compile("adam", focal)
    model.save("model.keras")
    keras.models.load_model("model.keras")


def unknown_function__keras2(here: Path):
    model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(3,))])

    def focal(y_true, y_pred):
        return tf.reduce_mean(y_true - y_pred)

    model.compile("adam", focal)
    model.save("model.h5")
    tf_keras.models.load_model("model.h5")


def unknown_class__keras2(here: Path):
    class Scale(tf_keras.layers.Layer):
        pass

    tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(3,)), Scale()]).save("model.h5")
    tf_keras.models.load_model("model.h5")


def weights_unbuilt__subclassed(here: Path):
    _model().save_weights("a.weights.h5")
    keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)]).load_weights("a.weights.h5")


def weights_only_file(here: Path):
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Input((2,)), tf_keras.layers.Dense(1)])
    model.save_weights(str(here / "model.h5"))
    tf_keras.models.load_model(str(here / "model.h5"))


def weights_only_file__keras_3(here: Path):
    import h5py
    import keras

    with h5py.File(here / "model.h5", "w") as file:
        file.create_group("dense")
    keras.models.load_model(here / "model.h5")


def weight_name_twice(here: Path):
    import tf_keras

    class Twice(tf_keras.layers.Layer):
        def build(self, shape):
            self.first = self.add_weight(name="w", shape=(2,))
            self.second = self.add_weight(name="w", shape=(2,))

        def call(self, x):
            return x + self.first + self.second

    model = tf_keras.Sequential([tf_keras.layers.Input((2,)), Twice()])
    model.save_weights(str(here / "model.h5"))


def subclassed_to_h5(here: Path):
    import tf_keras

    class Own(tf_keras.Model):
        def call(self, x):
            return x

    model = Own()
    model(np.zeros((1, 2), "float32"))
    model.save(str(here / "model.h5"))


def savedmodel_damaged(here: Path):
    import tensorflow as tf

    (here / "model").mkdir()
    (here / "model" / "saved_model.pb").write_bytes(b"version https://git-lfs.github.com/spec/v1")
    tf.saved_model.load(str(here / "model"))


def pydot_missing(here: Path):
    import keras

    keras.utils.plot_model(keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)]), here / "model.png")
