"""Specimen of `axis_of_rows`."""

FAULTY = """
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(3)])
logits = model(np.load("x.npy"))
classes = tf.argmax(logits)
print(classes)
""".lstrip()
LINE = 6
SOUND = """
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(3)])
logits = model(np.load("x.npy"))
classes = tf.argmax(logits, axis=1)
first = tf.argmax(logits[0], axis=0)
print(classes, first)
""".lstrip()
