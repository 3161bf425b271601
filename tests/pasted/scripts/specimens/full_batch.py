"""Specimen of `full_batch`."""

FAULTY = """
import keras

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, batch_size=len(x), epochs=10)
""".lstrip()
LINE = 5
SOUND = """
import keras

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, batch_size=32, epochs=10)
""".lstrip()
