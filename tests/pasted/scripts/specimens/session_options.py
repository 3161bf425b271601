"""Specimen of `session_options`."""

_SCRIPT = """
import keras
import tensorflow as tf

{}model = keras.Sequential([keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y)
""".lstrip()
FAULTY = _SCRIPT.format("config = tf.compat.v1.ConfigProto()\nconfig.gpu_options.allow_growth = True\n")
LINE = 5
SOUND = _SCRIPT.format(
    'for gpu in tf.config.list_physical_devices("GPU"):\n    tf.config.experimental.set_memory_growth(gpu, True)\n'
)
