"""Specimen of `callback_never_called`."""

FAULTY = """
from tensorflow import keras


class Shows(keras.callbacks.Callback):
    def on_epoch_ends(self, epoch, logs=None):
        print(epoch, logs)
""".lstrip()
LINE = 5
SOUND = """
from tensorflow import keras


class Shows(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(epoch, logs)
""".lstrip()
