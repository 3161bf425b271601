"""Specimen of `activated_before_the_loss`."""

FAULTY = """
import tensorflow as tf


def loss_of(scores, labels):
    chances = tf.nn.softmax(scores)
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=chances))
""".lstrip()
LINE = 6
SOUND = """
import tensorflow as tf


def loss_of(scores, labels):
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=scores))
""".lstrip()
