"""Specimen of `picture_not_scaled`."""

FAULTY = """
import numpy as np
from PIL import Image
import keras

(x, y), _ = keras.datasets.mnist.load_data()
x = x / 255.0
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, y)
picture = np.array(Image.open("digit.png").resize((28, 28)))
print(model.predict(picture[None]))
""".lstrip()
LINE = 11
SOUND = """
import numpy as np
from PIL import Image
import keras

(x, y), _ = keras.datasets.mnist.load_data()
x = x / 255.0
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, y)
picture = np.array(Image.open("digit.png").resize((28, 28))) / 255.0
print(model.predict(picture[None]))
""".lstrip()
