"""Specimen of `own_loss`."""

FAULTY = """
import keras
import numpy as np


def loss(truth, predicted):
    return np.mean((truth - predicted) ** 2)


model = keras.Sequential([keras.layers.Dense(1)])
model.compile(loss=loss, optimizer="adam")
""".lstrip()
LINE = 6
SOUND = """
import keras
import numpy as np


def loss(truth, predicted):
    return keras.ops.mean((truth - predicted) ** 2)


model = keras.Sequential([keras.layers.Dense(1)])
model.compile(loss=loss, optimizer="adam")
""".lstrip()
