"""Specimen of `target_is_input`."""

FAULTY = """
import numpy as np
from keras import Sequential, layers

x = np.load("clean.npy")
noisy = x + np.random.normal(size=x.shape)
model = Sequential([layers.Dense(8, activation="relu"), layers.Dense(64)])
model.compile("adam", "mse")
model.fit(noisy, noisy)
""".lstrip()
LINE = 8
SOUND = """
import numpy as np
from keras import Sequential, layers

x = np.load("clean.npy")
noisy = x + np.random.normal(size=x.shape)
model = Sequential([layers.Dense(8, activation="relu"), layers.Dense(64)])
model.compile("adam", "mse")
model.fit(noisy, x)
""".lstrip()
