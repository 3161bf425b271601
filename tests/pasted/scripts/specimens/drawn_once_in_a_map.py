"""Specimen of `drawn_once_in_a_map`."""

FAULTY = """
import numpy as np
import tensorflow as tf


def augment(image, label):
    image = tf.image.adjust_brightness(image, np.random.uniform(-0.2, 0.2))
    return image, label


ds = tf.data.Dataset.from_tensor_slices((np.load("x.npy"), np.load("y.npy"))).map(augment).batch(32)
""".lstrip()
LINE = 6
SOUND = """
import numpy as np
import tensorflow as tf


def augment(image, label):
    image = tf.image.adjust_brightness(image, tf.random.uniform((), -0.2, 0.2))
    return image, label


ds = tf.data.Dataset.from_tensor_slices((np.load("x.npy"), np.load("y.npy"))).map(augment).batch(32)
""".lstrip()
