"""Specimen of `nothing_trainable`."""

FAULTY = """
import keras

base = keras.applications.VGG16(include_top=False, weights=None, pooling="avg")
model = keras.Model(base.input, keras.layers.Dense(3, activation="softmax")(base.output))
for layer in model.layers:
    layer.trainable = False
model.compile("adam", "categorical_crossentropy")
model.fit(x, y)
""".lstrip()
LINE = 6
SOUND = """
import keras

base = keras.applications.VGG16(include_top=False, weights=None, pooling="avg")
model = keras.Model(base.input, keras.layers.Dense(3, activation="softmax")(base.output))
for layer in base.layers:
    layer.trainable = False
model.compile("adam", "categorical_crossentropy")
model.fit(x, y)
""".lstrip()
