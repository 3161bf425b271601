"""Specimen of `metric_for_task`."""

FAULTY = """
import keras

(x, y), _ = keras.datasets.california_housing.load_data()
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=["accuracy"])
model.fit(x, y)
""".lstrip()
LINE = 5
SOUND = """
import keras

(x, y), _ = keras.datasets.california_housing.load_data()
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
model.fit(x, y)
""".lstrip()
