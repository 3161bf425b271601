"""Specimen of `loss_for_classes`."""

FAULTY = """
import keras

from data import x, y

model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(5, activation="softmax")])
model.compile("adam", loss="mse", metrics=["accuracy"])
model.fit(x, y)
""".lstrip()
LINE = 6
SOUND = """
import keras

from data import x, y

model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(5, activation="softmax")])
model.compile("adam", loss="categorical_crossentropy", metrics=["categorical_accuracy"])
model.fit(x, y)
""".lstrip()
