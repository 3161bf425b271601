"""Specimen of `scaled_by_its_type`."""

FAULTY = """
import tensorflow as tf


def load(path):
    image = tf.image.decode_jpeg(tf.io.read_file(path), channels=3)
    image = tf.image.resize(image, (224, 224))
    return tf.image.convert_image_dtype(image, tf.float32)
""".lstrip()
LINE = 7
SOUND = """
import tensorflow as tf


def load(path):
    image = tf.image.decode_jpeg(tf.io.read_file(path), channels=3)
    image = tf.image.convert_image_dtype(image, tf.float32)
    return tf.image.resize(image, (224, 224))
""".lstrip()
