"""Specimen of `rows_not_batched`."""

FAULTY = """
import numpy as np
import tensorflow as tf

train = tf.data.Dataset.from_tensor_slices((np.load("x.npy"), np.load("y.npy"))).shuffle(1000).batch(64)
val = tf.data.Dataset.from_tensor_slices((np.load("x_val.npy"), np.load("y_val.npy")))
model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(train, validation_data=val)
""".lstrip()
LINE = 8
SOUND = """
import numpy as np
import tensorflow as tf

train = tf.data.Dataset.from_tensor_slices((np.load("x.npy"), np.load("y.npy"))).shuffle(1000).batch(64)
val = tf.data.Dataset.from_tensor_slices((np.load("x_val.npy"), np.load("y_val.npy"))).batch(64)
model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(train, validation_data=val)
""".lstrip()
