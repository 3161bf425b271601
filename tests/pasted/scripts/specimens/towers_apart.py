"""Specimen of `towers_apart`."""

FAULTY = """
from tensorflow import keras
from tensorflow.keras import layers


def encoder(shape):
    return keras.Sequential([layers.Input(shape), layers.Flatten(), layers.Dense(64, activation="relu"), layers.Dense(16)])


a, b = layers.Input((28, 28)), layers.Input((28, 28))
left = encoder((28, 28))(a)
right = encoder((28, 28))(b)
distance = layers.Dot(axes=1, normalize=True)([left, right])
siamese = keras.Model([a, b], layers.Dense(1, activation="sigmoid")(distance))
""".lstrip()
LINE = 11
SOUND = """
from tensorflow import keras
from tensorflow.keras import layers


def encoder(shape):
    return keras.Sequential([layers.Input(shape), layers.Flatten(), layers.Dense(64, activation="relu"), layers.Dense(16)])


a, b = layers.Input((28, 28)), layers.Input((28, 28))
tower = encoder((28, 28))
left = tower(a)
right = tower(b)
distance = layers.Dot(axes=1, normalize=True)([left, right])
siamese = keras.Model([a, b], layers.Dense(1, activation="sigmoid")(distance))
""".lstrip()
