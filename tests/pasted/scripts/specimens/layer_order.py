"""Specimen of `layer_order`."""

FAULTY = """
import keras

model = keras.Sequential()
model.add(keras.layers.Input((20, 4)))
model.add(keras.layers.LSTM(32))
model.add(keras.layers.LSTM(16))
model.add(keras.layers.Dense(1))
""".lstrip()
LINE = 5
SOUND = """
import keras

model = keras.Sequential()
model.add(keras.layers.Input((20, 4)))
model.add(keras.layers.LSTM(32, return_sequences=True))
model.add(keras.layers.LSTM(16))
model.add(keras.layers.Dense(1))
""".lstrip()
