"""Specimen of `made_anew_each_epoch`."""

FAULTY = """
import keras


def build():
    return keras.Sequential([keras.layers.Dense(1)])


for epoch in range(20):
    model = build()
    model.compile("adam", "mse")
    model.fit(x, y, epochs=1)
    keras.backend.clear_session()
""".lstrip()
LINE = 9
SOUND = """
import keras


def build():
    return keras.Sequential([keras.layers.Dense(1)])


model = build()
model.compile("adam", "mse")
model.fit(x, y, epochs=20)
""".lstrip()
