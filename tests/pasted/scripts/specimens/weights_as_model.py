"""Specimen of `weights_as_model`."""

FAULTY = """
import keras

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.save_weights("best.weights.h5")
again = keras.models.load_model("best.weights.h5")
""".lstrip()
LINE = 5
SOUND = """
import keras

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.save("best.keras")
again = keras.models.load_model("best.keras")
""".lstrip()
