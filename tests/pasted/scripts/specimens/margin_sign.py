"""Specimen of `margin_sign`."""

FAULTY = """
from keras import ops


def contrastive_loss(y, distance, margin=1.0):
    near = y * ops.square(distance)
    far = (1 - y) * ops.square(ops.maximum(distance - margin, 0))
    return ops.mean(near + far)
""".lstrip()
LINE = 6
SOUND = """
from keras import ops


def contrastive_loss(y, distance, margin=1.0):
    near = y * ops.square(distance)
    far = (1 - y) * ops.square(ops.maximum(margin - distance, 0))
    return ops.mean(near + far)
""".lstrip()
