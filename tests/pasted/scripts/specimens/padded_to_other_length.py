"""Specimen of `padded_to_other_length`."""

FAULTY = """
from keras.datasets import imdb
from keras.utils import pad_sequences
from keras import Sequential, layers

(x, y), (xt, yt) = imdb.load_data(num_words=500)
x = pad_sequences(x, maxlen=80)
xt = pad_sequences(xt, maxlen=100)
model = Sequential([layers.Embedding(500, 8), layers.GlobalAveragePooling1D(), layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, y)
model.evaluate(xt, yt)
""".lstrip()
LINE = 7
SOUND = """
from keras.datasets import imdb
from keras.utils import pad_sequences
from keras import Sequential, layers

(x, y), (xt, yt) = imdb.load_data(num_words=500)
x = pad_sequences(x, maxlen=80)
xt = pad_sequences(xt, maxlen=80)
model = Sequential([layers.Embedding(500, 8), layers.GlobalAveragePooling1D(), layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, y)
model.evaluate(xt, yt)
""".lstrip()
