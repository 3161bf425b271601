"""Specimen of `amount_behind_a_bound`."""

FAULTY = """
import pandas as pd
from tensorflow import keras

table = pd.read_csv("houses.csv")
y = table.pop("price")
model = keras.Sequential(
    [
        keras.layers.Input((10,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", loss="mse")
model.fit(table.values, y)
""".lstrip()
LINE = 10
SOUND = """
import pandas as pd
from tensorflow import keras

table = pd.read_csv("houses.csv")
y = table.pop("price")
model = keras.Sequential(
    [
        keras.layers.Input((10,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1),
    ]
)
model.compile("adam", loss="mse")
model.fit(table.values, y)
""".lstrip()
