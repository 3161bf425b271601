"""Specimen of `validation_is_training`."""

FAULTY = """
import tensorflow as tf

train = tf.data.TFRecordDataset("rows.tfrecord").shuffle(1000).batch(32)
val = tf.data.TFRecordDataset("rows.tfrecord").batch(32)
""".lstrip()
LINE = 4
SOUND = """
import tensorflow as tf

train = tf.data.TFRecordDataset("rows.tfrecord").skip(500).shuffle(1000).batch(32)
val = tf.data.TFRecordDataset("rows.tfrecord").take(500).batch(32)
""".lstrip()
