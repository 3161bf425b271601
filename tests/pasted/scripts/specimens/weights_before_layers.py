"""Specimen of `weights_before_layers`."""

FAULTY = """
from tensorflow import keras


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)

    def call(self, x):
        return self.dense(x)


model = Net()
model.load_weights("net.weights.h5")
""".lstrip()
LINE = 14
SOUND = """
from tensorflow import keras


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)

    def call(self, x):
        return self.dense(x)


model = Net()
model.build((None, 4))
model.load_weights("net.weights.h5")
""".lstrip()
