"""Specimen of `frozen_at_random`."""

FAULTY = """
from keras.applications import ResNet50

base = ResNet50(include_top=False, weights=None)
base.trainable = False
""".lstrip()
LINE = 4
SOUND = """
from keras.applications import ResNet50

base = ResNet50(include_top=False, weights="imagenet")
base.trainable = False
""".lstrip()
