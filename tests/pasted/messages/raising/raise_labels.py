"""Labels, losses and outputs that do not go together."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import tensorflow as tf


def _fit(units, loss, labels, activation="softmax"):
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(units, activation=activation)])
    model.compile("adam", loss)
    model.fit(np.zeros((len(labels), 5), "float32"), labels, verbose=0)


def sparse_labels_expected(here: Path):
    _fit(10, "sparse_categorical_crossentropy", np.eye(10, dtype="float32"))


def sequence_logits(here: Path):
    logits = tf.zeros((32, 20, 10))
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros((32,), tf.int32), logits=logits)


def one_hot_expected(here: Path):
    _fit(10, "categorical_crossentropy", np.arange(10))


def binary_output_units(here: Path):
    _fit(2, "binary_crossentropy", np.array([0, 1] * 5), "sigmoid")


def label_range(here: Path):
    _fit(10, "sparse_categorical_crossentropy", np.arange(1, 11))


def metric_targets(here: Path):
    from sklearn.metrics import confusion_matrix

    confusion_matrix([0, 1, 2], np.eye(3))


def not_compiled__fit(here: Path):
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(1)])
    model.fit(np.zeros((4, 5)), np.zeros((4, 1)), verbose=0)


def none_values__loss(here: Path):
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(2)])
    model.compile("adam", lambda y_true, y_pred: None)
    model.fit(np.zeros((4, 5)), np.zeros((4, 2)), verbose=0)


def none_values__labels(here: Path):
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(2)])
    model.compile("adam", "mse")
    model.fit(np.zeros((4, 5), "float32"), verbose=0)


def sparse_labels_expected__keras2(here: Path):
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Dense(10, "softmax", input_shape=(5,))])
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(np.zeros((32, 5), "float32"), np.eye(10, dtype="float32")[np.arange(32) % 10], verbose=0)


def one_hot_expected__keras2(here: Path):
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Dense(10, "softmax", input_shape=(5,))])
    model.compile("adam", "categorical_crossentropy")
    model.fit(np.zeros((32, 5), "float32"), np.arange(32) % 10, verbose=0)


def binary_output_units__keras2(here: Path):
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Dense(2, "sigmoid", input_shape=(5,))])
    model.compile("adam", "binary_crossentropy")
    model.fit(np.zeros((32, 5), "float32"), np.arange(32) % 2, verbose=0)
