"""Specimen of `batches_shuffled`."""

FAULTY = """
import tensorflow as tf

from data import x, y

train = tf.data.Dataset.from_tensor_slices((x, y)).batch(32).prefetch(1).shuffle(1000)
""".lstrip()
LINE = 5
SOUND = """
import tensorflow as tf

from data import x, y

train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1000).batch(32).prefetch(1)
""".lstrip()
