"""Specimen of `loss_maker`."""

FAULTY = """
import tensorflow as tf


def weighted(weight=2.0):
    def loss(y_true, y_pred):
        return weight * tf.reduce_mean(tf.square(y_true - y_pred))

    return loss


model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", loss=weighted)
""".lstrip()
LINE = 12
SOUND = """
import tensorflow as tf


def weighted(weight=2.0):
    def loss(y_true, y_pred):
        return weight * tf.reduce_mean(tf.square(y_true - y_pred))

    return loss


model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", loss=weighted())
""".lstrip()
