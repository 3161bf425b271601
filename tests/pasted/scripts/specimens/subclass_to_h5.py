"""Specimen of `subclass_to_h5`."""

FAULTY = """
import keras


class Net(keras.Model):
    def call(self, x):
        return x


net = Net()
net.save("net.h5")
""".lstrip()
LINE = 10
SOUND = """
import keras


class Net(keras.Model):
    def call(self, x):
        return x


net = Net()
net.save("net.keras")
""".lstrip()
