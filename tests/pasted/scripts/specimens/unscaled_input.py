"""Specimen of `unscaled_input`."""

_SCRIPT = """
import keras

(x, y), _ = keras.datasets.mnist.load_data()
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10, activation="softmax")])
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam")
model.fit({}, y)
""".lstrip()
FAULTY = _SCRIPT.format("x")
LINE = 6
SOUND = _SCRIPT.format("x / 255.0")
