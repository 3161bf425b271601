"""Specimen of `logarithm_of_zero`."""

FAULTY = """
import tensorflow as tf


def own(y_true, y_pred):
    return -tf.reduce_mean(y_true * tf.math.log(y_pred))
""".lstrip()
LINE = 5
SOUND = """
import tensorflow as tf


def own(y_true, y_pred):
    return -tf.reduce_mean(y_true * tf.math.log(y_pred + 1e-7))
""".lstrip()
