"""Specimen of `graph_that_grows`."""

FAULTY = """
import tensorflow.compat.v1 as tf

rate = tf.get_variable("rate", initializer=0.1)
with tf.Session() as sess:
    for step in range(1000):
        sess.run(tf.assign(rate, rate * 0.99))
""".lstrip()
LINE = 6
SOUND = """
import tensorflow.compat.v1 as tf

rate = tf.get_variable("rate", initializer=0.1)
slower = tf.assign(rate, rate * 0.99)
with tf.Session() as sess:
    for step in range(1000):
        sess.run(slower)
""".lstrip()
