"""Specimen of `end_of_episode`."""

FAULTY = """
import tensorflow as tf


def targets(target_net, rewards, next_states, dones, gamma=0.99):
    best = tf.reduce_max(target_net(next_states), axis=1)
    return rewards + gamma * best * dones
""".lstrip()
LINE = 6
SOUND = """
import tensorflow as tf


def targets(target_net, rewards, next_states, dones, gamma=0.99):
    best = tf.reduce_max(target_net(next_states), axis=1)
    return rewards + gamma * best * (1.0 - dones)
""".lstrip()
