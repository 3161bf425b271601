"""Specimen of `one_input_for_two`."""

FAULTY = """
import numpy as np
from tensorflow import keras

model = keras.models.load_model("siamese.keras")
pairs = np.load("pairs.npy")
model.fit([pairs[:, 0], pairs[:, 0]], np.load("y.npy"))
""".lstrip()
LINE = 6
SOUND = """
import numpy as np
from tensorflow import keras

model = keras.models.load_model("siamese.keras")
pairs = np.load("pairs.npy")
model.fit([pairs[:, 0], pairs[:, 1]], np.load("y.npy"))
""".lstrip()
