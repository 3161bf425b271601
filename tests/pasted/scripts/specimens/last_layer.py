"""Specimen of `last_layer`."""

FAULTY = """
import keras

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="softmax")])
model.compile(loss="binary_crossentropy", optimizer="adam")
""".lstrip()
LINE = 3
SOUND = """
import keras

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(loss="binary_crossentropy", optimizer="adam")
""".lstrip()
