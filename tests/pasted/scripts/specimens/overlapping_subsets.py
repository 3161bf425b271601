"""Specimen of `overlapping_subsets`."""

_SCRIPT = """
import tensorflow as tf

rows = tf.data.Dataset.from_tensor_slices(x).shuffle(1000{})
train, valid = rows.skip(100), rows.take(100)
""".lstrip()
FAULTY = _SCRIPT.format("")
LINE = 3
SOUND = _SCRIPT.format(", reshuffle_each_iteration=False")
