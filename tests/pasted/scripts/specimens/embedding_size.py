"""Specimen of `embedding_size`."""

FAULTY = """
import keras

(x, y), _ = keras.datasets.imdb.load_data(num_words=10000)
model = keras.Sequential()
model.add(keras.layers.Embedding(5000, 32))
""".lstrip()
LINE = 5
SOUND = """
import keras

(x, y), _ = keras.datasets.imdb.load_data(num_words=10000)
model = keras.Sequential()
model.add(keras.layers.Embedding(10000, 32))
""".lstrip()
