"""Specimen of `drawn_from_probabilities`."""

FAULTY = """
import tensorflow as tf

policy = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(2, activation="softmax")])


def choose(state):
    chances = policy(state[None])
    return tf.random.categorical(chances, 1)[0, 0]
""".lstrip()
LINE = 8
SOUND = """
import tensorflow as tf

policy = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(2, activation="softmax")])


def choose(state):
    chances = policy(state[None])
    return tf.random.categorical(tf.math.log(chances), 1)[0, 0]
""".lstrip()
