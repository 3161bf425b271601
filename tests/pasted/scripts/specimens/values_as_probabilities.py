"""Specimen of `values_as_probabilities`."""

FAULTY = """
import tensorflow as tf

gamma = 0.99
q_net = tf.keras.Sequential(
    [
        tf.keras.layers.Input((4,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(2, activation="softmax"),
    ]
)


def targets(rewards, states, ends):
    return rewards + gamma * tf.reduce_max(q_net(states), axis=1) * (1 - ends)
""".lstrip()
LINE = 8
SOUND = """
import tensorflow as tf

gamma = 0.99
q_net = tf.keras.Sequential(
    [
        tf.keras.layers.Input((4,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(2),
    ]
)


def targets(rewards, states, ends):
    return rewards + gamma * tf.reduce_max(q_net(states), axis=1) * (1 - ends)
""".lstrip()
