"""Specimen of `policy_sign`."""

FAULTY = """
import tensorflow as tf


def train_step(policy, optimizer, states, actions, advantages):
    with tf.GradientTape() as tape:
        picked = tf.gather(policy(states), actions, axis=1, batch_dims=1)
        loss = tf.reduce_mean(tf.math.log(picked) * advantages)
    gradients = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(gradients, policy.trainable_variables))
""".lstrip()
LINE = 7
SOUND = """
import tensorflow as tf


def train_step(policy, optimizer, states, actions, advantages):
    with tf.GradientTape() as tape:
        picked = tf.gather(policy(states), actions, axis=1, batch_dims=1)
        loss = -tf.reduce_mean(tf.math.log(picked) * advantages)
        gain = tf.reduce_mean(tf.math.log(picked) * advantages)
    gradients = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(gradients, policy.trainable_variables))
    return gain
""".lstrip()
