"""Specimen of `rows_shuffled_alone`."""

FAULTY = """
import keras
from sklearn.utils import shuffle

from data import x, y

x = shuffle(x)
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
""".lstrip()
LINE = 6
SOUND = """
import keras
from sklearn.utils import shuffle

from data import x, y

x, y = shuffle(x, y)
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y)
""".lstrip()
