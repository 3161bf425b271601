"""Specimen of `unknown_direction`."""

FAULTY = """
import numpy as np
from tensorflow import keras


def iou(y_true, y_pred):
    both = keras.ops.sum(y_true * y_pred)
    return both / (keras.ops.sum(y_true) + keras.ops.sum(y_pred) - both)


model = keras.Sequential([keras.layers.Input((8, 8, 3)), keras.layers.Conv2D(1, 1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=[iou])
stop = keras.callbacks.EarlyStopping(monitor="val_iou", restore_best_weights=True)
model.fit(np.load("x.npy"), np.load("y.npy"), validation_split=0.2, callbacks=[stop])
""".lstrip()
LINE = 12
SOUND = """
import numpy as np
from tensorflow import keras


def iou(y_true, y_pred):
    both = keras.ops.sum(y_true * y_pred)
    return both / (keras.ops.sum(y_true) + keras.ops.sum(y_pred) - both)


model = keras.Sequential([keras.layers.Input((8, 8, 3)), keras.layers.Conv2D(1, 1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=[iou])
stop = keras.callbacks.EarlyStopping(monitor="val_iou", mode="max", restore_best_weights=True)
model.fit(np.load("x.npy"), np.load("y.npy"), validation_split=0.2, callbacks=[stop])
""".lstrip()
