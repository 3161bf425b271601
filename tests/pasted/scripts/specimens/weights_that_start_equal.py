"""Specimen of `weights_that_start_equal`."""

FAULTY = """
import tensorflow as tf

w1 = tf.Variable(tf.zeros([784, 256]))
b1 = tf.Variable(tf.zeros([256]))
w2 = tf.Variable(tf.zeros([256, 10]))


def scores(x):
    return tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2)
""".lstrip()
LINE = 3
SOUND = """
import tensorflow as tf

w1 = tf.Variable(tf.random.normal([784, 256], stddev=0.05))
b1 = tf.Variable(tf.zeros([256]))
w2 = tf.Variable(tf.random.normal([256, 10], stddev=0.05))


def scores(x):
    return tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2)
""".lstrip()
