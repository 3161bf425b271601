"""Specimen of `clone_without_weights`."""

FAULTY = """
import keras

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
target = keras.models.clone_model(model)
""".lstrip()
LINE = 4
SOUND = """
import keras

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
target = keras.models.clone_model(model)
target.set_weights(model.get_weights())
""".lstrip()
