"""Specimen of `keys_of_class_weights`."""

FAULTY = """
import numpy as np
from tensorflow import keras

model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
weights = {1: 0.7, 2: 1.9}
model.fit(np.load("x.npy"), np.load("y.npy"), class_weight=weights)
""".lstrip()
LINE = 6
SOUND = """
import numpy as np
from tensorflow import keras

model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
weights = {0: 0.7, 1: 1.9}
model.fit(np.load("x.npy"), np.load("y.npy"), class_weight=weights)
""".lstrip()
