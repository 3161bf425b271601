"""Specimen of `latent_of_an_autoencoder`."""

FAULTY = """
import tensorflow as tf


def draw(z_mean, z_log_var):
    epsilon = tf.random.normal(tf.shape(z_mean))
    return z_mean + tf.exp(z_log_var) * epsilon
""".lstrip()
LINE = 6
SOUND = """
import tensorflow as tf


def draw(z_mean, z_log_var):
    epsilon = tf.random.normal(tf.shape(z_mean))
    return z_mean + tf.exp(0.5 * z_log_var) * epsilon
""".lstrip()
