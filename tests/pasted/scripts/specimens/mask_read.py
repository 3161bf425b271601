"""Specimen of `mask_read`."""

FAULTY = """
import tensorflow as tf


def load(picture_path, mask_path):
    picture = tf.image.decode_png(tf.io.read_file(picture_path), channels=3)
    picture = tf.image.resize(picture, (256, 256)) / 255.0
    mask = tf.image.decode_png(tf.io.read_file(mask_path), channels=1)
    mask = tf.image.resize(mask, (256, 256))
    return picture, mask / 255.0
""".lstrip()
LINE = 8
SOUND = """
import tensorflow as tf


def load(picture_path, mask_path):
    picture = tf.image.decode_png(tf.io.read_file(picture_path), channels=3)
    picture = tf.image.resize(picture, (256, 256)) / 255.0
    mask = tf.image.decode_png(tf.io.read_file(mask_path), channels=1)
    mask = tf.image.resize(mask, (256, 256), method="nearest")
    return picture, mask / 255.0
""".lstrip()
