"""Specimen of `joined_in_the_plane`."""

FAULTY = """
from tensorflow.keras import Model, layers

inputs = layers.Input((64, 64, 3))
down = layers.Conv2D(16, 3, padding="same", activation="relu")(inputs)
deep = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(down)
up = layers.Conv2DTranspose(16, 2, strides=2)(deep)
both = layers.Concatenate(axis=1)([up, down])
model = Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(both))
""".lstrip()
LINE = 7
SOUND = """
from tensorflow.keras import Model, layers

inputs = layers.Input((64, 64, 3))
down = layers.Conv2D(16, 3, padding="same", activation="relu")(inputs)
deep = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(down)
up = layers.Conv2DTranspose(16, 2, strides=2)(deep)
both = layers.Concatenate(axis=3)([up, down])
model = Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(both))
""".lstrip()
