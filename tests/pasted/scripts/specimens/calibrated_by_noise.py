"""Specimen of `calibrated_by_noise`."""

FAULTY = """
import numpy as np
import tensorflow as tf


def examples():
    for _ in range(100):
        yield [np.random.rand(1, 224, 224, 3).astype("float32")]


converter = tf.lite.TFLiteConverter.from_saved_model("exported")
converter.representative_dataset = examples
""".lstrip()
LINE = 7
SOUND = """
import numpy as np
import tensorflow as tf

pictures = np.load("pictures.npy")


def examples():
    for picture in pictures[:100]:
        yield [picture[None].astype("float32")]


converter = tf.lite.TFLiteConverter.from_saved_model("exported")
converter.representative_dataset = examples
""".lstrip()
