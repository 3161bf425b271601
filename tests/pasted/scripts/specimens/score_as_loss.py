"""Specimen of `score_as_loss`."""

FAULTY = """
import keras


def dice_coef(y, p):
    return 2 * keras.ops.sum(y * p) / keras.ops.sum(y + p)


def dice_loss(y, p):
    return dice_coef(y, p)


model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Conv2D(1, 1, activation="sigmoid")])
model.compile("adam", loss=dice_loss)
""".lstrip()
LINE = 9
SOUND = """
import keras


def dice_coef(y, p):
    return 2 * keras.ops.sum(y * p) / keras.ops.sum(y + p)


def dice_loss(y, p):
    return 1 - dice_coef(y, p)


model = keras.Sequential([keras.Input((8, 8, 1)), keras.layers.Conv2D(1, 1, activation="sigmoid")])
model.compile("adam", loss=dice_loss)
""".lstrip()
