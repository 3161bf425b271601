"""Specimen of `range_of_tanh`."""

FAULTY = """
import tensorflow as tf
from tensorflow.keras import layers

(images, _), _ = tf.keras.datasets.mnist.load_data()
images = images[..., None].astype("float32") / 255.0
generator = tf.keras.Sequential(
    [
        layers.Input((100,)),
        layers.Dense(7 * 7 * 64, activation="relu"),
        layers.Reshape((7, 7, 64)),
        layers.Conv2DTranspose(32, 5, strides=2, padding="same", activation="relu"),
        layers.Conv2DTranspose(1, 5, strides=2, padding="same", activation="tanh"),
    ]
)
discriminator = tf.keras.Sequential([layers.Input((28, 28, 1)), layers.Flatten(), layers.Dense(1)])
""".lstrip()
LINE = 5
SOUND = """
import tensorflow as tf
from tensorflow.keras import layers

(images, _), _ = tf.keras.datasets.mnist.load_data()
images = images[..., None].astype("float32") / 127.5 - 1.0
generator = tf.keras.Sequential(
    [
        layers.Input((100,)),
        layers.Dense(7 * 7 * 64, activation="relu"),
        layers.Reshape((7, 7, 64)),
        layers.Conv2DTranspose(32, 5, strides=2, padding="same", activation="relu"),
        layers.Conv2DTranspose(1, 5, strides=2, padding="same", activation="tanh"),
    ]
)
discriminator = tf.keras.Sequential([layers.Input((28, 28, 1)), layers.Flatten(), layers.Dense(1)])
""".lstrip()
