"""Specimen of `read_from_another_file`."""

FAULTY = """
from tensorflow import keras

model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.save("net.keras")
again = keras.models.load_model("net.h5")
""".lstrip()
LINE = 5
SOUND = """
from tensorflow import keras

model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.save("net.keras")
again = keras.models.load_model("net.keras")
old = keras.models.load_model("other.h5")
""".lstrip()
