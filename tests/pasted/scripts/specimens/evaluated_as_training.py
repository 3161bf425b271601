"""Specimen of `evaluated_as_training`."""

FAULTY = """
import tensorflow as tf


@tf.function
def test_step(model, loss, x, y):
    return loss(y, model(x, training=True))
""".lstrip()
LINE = 6
SOUND = """
import tensorflow as tf


@tf.function
def test_step(model, loss, x, y):
    return loss(y, model(x, training=False))
""".lstrip()
