"""Specimen of `python_in_graph`."""

FAULTY = """
import tensorflow as tf

losses = []


@tf.function
def step(x):
    losses.append(tf.reduce_mean(x))
    return x
""".lstrip()
LINE = 8
SOUND = """
import tensorflow as tf

losses = []


@tf.function
def step(x):
    return tf.reduce_mean(x)


losses.append(step(tf.ones(3)))
""".lstrip()
