"""Specimen of `deprecated_name`."""

FAULTY = """
import tensorflow as tf

strategy = tf.distribute.experimental.TPUStrategy()
""".lstrip()
LINE = 3
SOUND = """
import tensorflow as tf

strategy = tf.distribute.TPUStrategy()
""".lstrip()
