"""Specimen of `tape_use`."""

FAULTY = """
import tensorflow as tf

a, b = tf.Variable(1.0), tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = a * b
first = tape.gradient(loss, a)
second = tape.gradient(loss, b)
""".lstrip()
LINE = 7
SOUND = """
import tensorflow as tf

a, b = tf.Variable(1.0), tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    loss = a * b
first = tape.gradient(loss, a)
second = tape.gradient(loss, b)
""".lstrip()
