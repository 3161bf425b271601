"""Specimen of `divergence_sign`."""

FAULTY = """
import tensorflow as tf


def loss(x, y, mean, log_var):
    kl = 0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var))
    return tf.reduce_mean(tf.abs(y)) + kl
""".lstrip()
LINE = 5
SOUND = """
import tensorflow as tf


def loss(x, y, mean, log_var):
    kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var))
    return tf.reduce_mean(tf.abs(y)) + kl
""".lstrip()
