"""Specimen of `factor_that_raises`."""

FAULTY = """
import numpy as np
from tensorflow import keras

model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
slower = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=10, patience=3)
model.fit(np.load("x.npy"), np.load("y.npy"), validation_split=0.2, callbacks=[slower])
""".lstrip()
LINE = 6
SOUND = """
import numpy as np
from tensorflow import keras

model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
slower = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.1, patience=3)
model.fit(np.load("x.npy"), np.load("y.npy"), validation_split=0.2, callbacks=[slower])
""".lstrip()
