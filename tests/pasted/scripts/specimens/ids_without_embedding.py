"""Specimen of `ids_without_embedding`."""

FAULTY = """
import keras
from keras.utils import pad_sequences

(x, y), _ = keras.datasets.imdb.load_data(num_words=1000)
x = pad_sequences(x, maxlen=100).reshape(-1, 100, 1)
model = keras.Sequential([keras.layers.LSTM(8, input_shape=(100, 1)), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, y)
""".lstrip()
LINE = 6
SOUND = """
import keras
from keras.utils import pad_sequences

(x, y), _ = keras.datasets.imdb.load_data(num_words=1000)
x = pad_sequences(x, maxlen=100)
model = keras.Sequential(
    [keras.layers.Embedding(1000, 8), keras.layers.LSTM(8), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile("adam", "binary_crossentropy")
model.fit(x, y)
""".lstrip()
