"""Specimen of `rows_in_the_shape`."""

FAULTY = """
import keras

x = keras.ops.ones((100, 4))
model = keras.Sequential([keras.layers.Dense(1, input_shape=x.shape)])
model.compile("adam", "mse")
model.fit(x, y)
""".lstrip()
LINE = 4
SOUND = """
import keras

x = keras.ops.ones((100, 4))
model = keras.Sequential([keras.layers.Dense(1, input_shape=x.shape[1:])])
model.compile("adam", "mse")
model.fit(x, y)
""".lstrip()
