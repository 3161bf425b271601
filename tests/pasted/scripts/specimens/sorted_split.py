"""Specimen of `sorted_split`."""

_SCRIPT = """
import keras
import numpy as np

x = np.concatenate([good, bad])
y = np.concatenate([np.ones(len(good)), np.zeros(len(bad))])
{}model = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
model.compile(loss="binary_crossentropy", optimizer="adam")
model.fit(x, y, validation_split=0.2)
""".lstrip()
FAULTY = _SCRIPT.format("")
LINE = 8
SOUND = _SCRIPT.format("order = np.random.permutation(len(x))\nx, y = x[order], y[order]\n")
