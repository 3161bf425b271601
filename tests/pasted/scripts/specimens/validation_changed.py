"""Specimen of `validation_changed`."""

FAULTY = """
import tensorflow as tf


def change(x, y):
    x = tf.image.random_flip_left_right(x)
    return x, y


train = tf.keras.utils.image_dataset_from_directory("train").map(change)
val = tf.keras.utils.image_dataset_from_directory("val").map(change)
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(train, validation_data=val)
""".lstrip()
LINE = 10
SOUND = """
import tensorflow as tf


def change(x, y):
    x = tf.image.random_flip_left_right(x)
    return x, y


train = tf.keras.utils.image_dataset_from_directory("train").map(change)
val = tf.keras.utils.image_dataset_from_directory("val")
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(train, validation_data=val)
""".lstrip()
