"""Specimen of `prediction_read`."""

FAULTY = """
import keras
import numpy as np

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(loss="binary_crossentropy", optimizer="adam")
model.fit(x, y)
classes = np.argmax(model.predict(x), axis=1)
""".lstrip()
LINE = 7
SOUND = """
import keras
import numpy as np

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(loss="binary_crossentropy", optimizer="adam")
model.fit(x, y)
classes = model.predict(x) > 0.5
""".lstrip()
