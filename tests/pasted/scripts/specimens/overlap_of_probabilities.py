"""Specimen of `overlap_of_probabilities`."""

FAULTY = """
from tensorflow import keras

model = keras.Sequential([keras.layers.Input((8, 8, 3)), keras.layers.Conv2D(1, 1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=[keras.metrics.MeanIoU(num_classes=2)])
""".lstrip()
LINE = 4
SOUND = """
from tensorflow import keras

model = keras.Sequential([keras.layers.Input((8, 8, 3)), keras.layers.Conv2D(1, 1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=[keras.metrics.BinaryIoU(target_class_ids=[0, 1])])
""".lstrip()
