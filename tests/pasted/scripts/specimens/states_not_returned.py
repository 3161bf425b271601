"""Specimen of `states_not_returned`."""

FAULTY = """
import keras

x = keras.Input((None, 8))
layer = keras.layers.LSTM(16)
out, h, c = layer(x)
""".lstrip()
LINE = 5
SOUND = """
import keras

x = keras.Input((None, 8))
layer = keras.layers.LSTM(16, return_state=True)
out, h, c = layer(x)
""".lstrip()
