"""Specimen of `class_of_layers`."""

FAULTY = """
import keras


class Net(keras.Model):
    def __init__(self):
        self.dense = keras.layers.Dense(3)

    def call(self, x):
        return self.dense(x)
""".lstrip()
LINE = 6
SOUND = """
import keras


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)

    def call(self, x):
        return self.dense(x)
""".lstrip()
