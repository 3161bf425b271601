"""Specimen of `adversary_labels`."""

FAULTY = """
import tensorflow as tf

bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def discriminator_loss(real, fake):
    return bce(tf.ones_like(real), real) + bce(tf.zeros_like(fake), fake)


def generator_loss(fake):
    return bce(tf.zeros_like(fake), fake)
""".lstrip()
LINE = 11
SOUND = """
import tensorflow as tf

bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def discriminator_loss(real, fake):
    return bce(tf.ones_like(real), real) + bce(tf.zeros_like(fake), fake)


def generator_loss(fake):
    return bce(tf.ones_like(fake), fake)
""".lstrip()
