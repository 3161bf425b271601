"""Specimen of `changed_without_its_label`."""

FAULTY = """
import tensorflow as tf


def augment(image, mask):
    image = tf.image.random_flip_left_right(image)
    return image, mask
""".lstrip()
LINE = 5
SOUND = """
import tensorflow as tf


def augment(image, mask):
    if tf.random.uniform(()) > 0.5:
        image, mask = tf.image.flip_left_right(image), tf.image.flip_left_right(mask)
    image = tf.image.random_brightness(image, 0.1)
    return image, mask
""".lstrip()
