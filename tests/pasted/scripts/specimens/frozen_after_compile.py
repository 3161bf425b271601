"""Specimen of `frozen_after_compile`."""

FAULTY = """
import keras

base = keras.applications.VGG16(include_top=False, pooling="avg")
base.trainable = False
model = keras.Sequential([base, keras.layers.Dense(5, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(data, epochs=3)
base.trainable = True
model.fit(data, epochs=3)
""".lstrip()
LINE = 8
SOUND = """
import keras

base = keras.applications.VGG16(include_top=False, pooling="avg")
base.trainable = False
model = keras.Sequential([base, keras.layers.Dense(5, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(data, epochs=3)
base.trainable = True
model.compile(optimizer=keras.optimizers.Adam(1e-5), loss="sparse_categorical_crossentropy")
model.fit(data, epochs=3)
""".lstrip()
