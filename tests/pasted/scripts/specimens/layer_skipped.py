"""Specimen of `layer_skipped`."""

FAULTY = """
import keras

inputs = keras.Input((4,))
h = keras.layers.Dense(8, activation="relu")(inputs)
h = keras.layers.Dense(4, activation="relu")(inputs)
model = keras.Model(inputs, keras.layers.Dense(1)(h))
""".lstrip()
LINE = 5
SOUND = """
import keras

inputs = keras.Input((4,))
h = keras.layers.Dense(8, activation="relu")(inputs)
h = keras.layers.Dense(4, activation="relu")(h)
model = keras.Model(inputs, keras.layers.Dense(1)(h))
""".lstrip()
