"""Specimen of `cached_randomness`."""

FAULTY = """
import tensorflow as tf


def change(x, y):
    return tf.image.random_flip_left_right(x), y


train = tf.data.Dataset.from_tensor_slices((x, y))
train = train.map(change)
train = train.cache().batch(32)
""".lstrip()
LINE = 10
SOUND = """
import tensorflow as tf


def change(x, y):
    return tf.image.random_flip_left_right(x), y


train = tf.data.Dataset.from_tensor_slices((x, y))
train = train.cache()
train = train.map(change).batch(32)
""".lstrip()
