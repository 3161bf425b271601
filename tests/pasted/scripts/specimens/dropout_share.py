"""Specimen of `dropout_share`."""

FAULTY = """
from keras import layers

keep_prob = 0.9
layer = layers.Dropout(keep_prob)
""".lstrip()
LINE = 4
SOUND = """
from keras import layers

keep_prob = 0.9
layer = layers.Dropout(1 - keep_prob)
""".lstrip()
