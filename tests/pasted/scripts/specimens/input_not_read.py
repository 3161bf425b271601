"""Specimen of `input_not_read`."""

FAULTY = """
from tensorflow import keras
from tensorflow.keras import layers

source, target = layers.Input((None,)), layers.Input((None,))
encoded, h, c = layers.LSTM(32, return_state=True)(layers.Embedding(1000, 16)(source))
decoded = layers.LSTM(32, return_sequences=True)(layers.Embedding(1000, 16)(target))
model = keras.Model([source, target], layers.Dense(1000, activation="softmax")(decoded))
""".lstrip()
LINE = 6
SOUND = """
from tensorflow import keras
from tensorflow.keras import layers

source, target = layers.Input((None,)), layers.Input((None,))
encoded, h, c = layers.LSTM(32, return_state=True)(layers.Embedding(1000, 16)(source))
decoded = layers.LSTM(32, return_sequences=True)(layers.Embedding(1000, 16)(target), initial_state=[h, c])
model = keras.Model([source, target], layers.Dense(1000, activation="softmax")(decoded))
""".lstrip()
