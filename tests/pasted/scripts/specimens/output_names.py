"""Specimen of `output_names`."""

FAULTY = """
import keras

x = keras.Input((4,))
a = keras.layers.Dense(1, name="price")(x)
b = keras.layers.Dense(1, name="rooms")(x)
model = keras.Model(x, [a, b])
model.compile("adam", loss={"prices": "mse", "rooms": "mse"})
""".lstrip()
LINE = 7
SOUND = """
import keras

x = keras.Input((4,))
a = keras.layers.Dense(1, name="price")(x)
b = keras.layers.Dense(1, name="rooms")(x)
model = keras.Model(x, [a, b])
model.compile("adam", loss={"price": "mse", "rooms": "mse"})
""".lstrip()
