"""Specimen of `root_of_zero`."""

FAULTY = """
import tensorflow as tf


def triplet_distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1))
""".lstrip()
LINE = 5
SOUND = """
import tensorflow as tf


def triplet_distance(a, b):
    return tf.sqrt(tf.maximum(tf.reduce_sum(tf.square(a - b), axis=1), 1e-7))
""".lstrip()
