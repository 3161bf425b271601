"""Specimen of `fit_arguments`."""

FAULTY = """
import keras
import tensorflow as tf

(x, y), _ = keras.datasets.mnist.load_data()
data = tf.data.Dataset.from_tensor_slices((x / 255.0, y)).shuffle(1000).batch(32).repeat()
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10, activation="softmax")])
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam")
model.fit(data, epochs=3)
""".lstrip()
LINE = 8
SOUND = """
import keras
import tensorflow as tf

(x, y), _ = keras.datasets.mnist.load_data()
data = tf.data.Dataset.from_tensor_slices((x / 255.0, y)).shuffle(1000).batch(32).repeat()
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10, activation="softmax")])
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam")
model.fit(data, epochs=3, steps_per_epoch=100)
""".lstrip()
