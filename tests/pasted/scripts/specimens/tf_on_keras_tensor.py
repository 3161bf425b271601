"""Specimen of `tf_on_keras_tensor`."""

_SCRIPT = """
import keras
import tensorflow as tf

inputs = keras.Input((8,))
x = keras.layers.Dense(4)(inputs)
x = {}(x)
model = keras.Model(inputs, x)
""".lstrip()
FAULTY = _SCRIPT.format("tf.sqrt")
LINE = 6
SOUND = _SCRIPT.format("keras.ops.sqrt")
