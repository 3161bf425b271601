"""Specimen of `buffer_of_few_rows`."""

FAULTY = """
import numpy as np
import tensorflow as tf

rows = tf.data.Dataset.from_tensor_slices((np.load("x.npy"), np.load("y.npy")))
rows = rows.shuffle(1).batch(32)
""".lstrip()
LINE = 5
SOUND = """
import numpy as np
import tensorflow as tf

rows = tf.data.Dataset.from_tensor_slices((np.load("x.npy"), np.load("y.npy")))
rows = rows.shuffle(10_000).batch(32)
""".lstrip()
