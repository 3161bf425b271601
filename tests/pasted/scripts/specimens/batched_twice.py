"""Specimen of `batched_twice`."""

FAULTY = """
import keras

train = keras.utils.image_dataset_from_directory("photos")
train = train.batch(32)
""".lstrip()
LINE = 4
SOUND = """
import keras

train = keras.utils.image_dataset_from_directory("photos", batch_size=None)
train = train.batch(32)
""".lstrip()
