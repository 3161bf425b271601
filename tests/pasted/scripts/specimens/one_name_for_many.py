"""Specimen of `one_name_for_many`."""

FAULTY = """
from tensorflow import keras


def build(hp):
    model = keras.Sequential([keras.layers.Input((10,))])
    for i in range(3):
        model.add(keras.layers.Dense(hp.Int("units", 32, 256, step=32), activation="relu"))
    model.add(keras.layers.Dense(1))
    return model
""".lstrip()
LINE = 7
SOUND = """
from tensorflow import keras


def build(hp):
    model = keras.Sequential([keras.layers.Input((10,))])
    for i in range(hp.Int("layers", 1, 3)):
        model.add(keras.layers.Dense(hp.Int(f"units_{i}", 32, 256, step=32), activation="relu"))
    model.add(keras.layers.Dense(1))
    return model
""".lstrip()
