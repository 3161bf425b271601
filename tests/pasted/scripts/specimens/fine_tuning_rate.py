"""Specimen of `fine_tuning_rate`."""

FAULTY = """
import keras

base = keras.applications.VGG16(include_top=False, weights="imagenet", pooling="avg")
model = keras.Sequential([base, keras.layers.Dense(1)])
base.trainable = True
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
""".lstrip()
LINE = 6
SOUND = """
import keras

base = keras.applications.VGG16(include_top=False, weights="imagenet", pooling="avg")
model = keras.Sequential([base, keras.layers.Dense(1)])
base.trainable = True
model.compile(optimizer=keras.optimizers.Adam(0.00001), loss="mse")
""".lstrip()
