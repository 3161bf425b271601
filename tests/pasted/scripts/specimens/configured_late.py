"""Specimen of `configured_late`."""

FAULTY = """
import tensorflow as tf

x = tf.zeros(3)
gpus = tf.config.list_physical_devices("GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
""".lstrip()
LINE = 6
SOUND = """
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
x = tf.zeros(3)
""".lstrip()
