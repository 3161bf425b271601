"""Specimen of `rate_of_a_schedule_changed`."""

FAULTY = """
import numpy as np
from tensorflow import keras

model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(1e-3, 1000, 0.9)), "mse")
slower = keras.callbacks.ReduceLROnPlateau(monitor="loss")
model.fit(np.load("x.npy"), np.load("y.npy"), callbacks=[slower])
""".lstrip()
LINE = 6
SOUND = """
import numpy as np
from tensorflow import keras

model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(1e-3), "mse")
slower = keras.callbacks.ReduceLROnPlateau(monitor="loss")
model.fit(np.load("x.npy"), np.load("y.npy"), callbacks=[slower])
""".lstrip()
