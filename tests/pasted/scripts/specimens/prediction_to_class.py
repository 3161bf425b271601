"""Specimen of `prediction_to_class`."""

FAULTY = """
import keras

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
classes = model.predict(x).astype(int)
""".lstrip()
LINE = 4
SOUND = """
import keras

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
classes = (model.predict(x) > 0.5).astype(int)
""".lstrip()
