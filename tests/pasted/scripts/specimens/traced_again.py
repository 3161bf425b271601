"""Specimen of `traced_again`."""

FAULTY = """
import tensorflow as tf


@tf.function
def step(x, epoch):
    return x * tf.cast(epoch, tf.float32)


for epoch in range(100):
    step(tf.ones(3), epoch)
""".lstrip()
LINE = 10
SOUND = """
import tensorflow as tf


@tf.function
def step(x, epoch):
    return x * tf.cast(epoch, tf.float32)


for epoch in range(100):
    step(tf.ones(3), tf.constant(epoch))
""".lstrip()
