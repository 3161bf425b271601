"""Specimen of `mixed_precision_output`."""

_SCRIPT = """
import keras

keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2, activation="softmax"{})])
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam")
""".lstrip()
FAULTY = _SCRIPT.format("")
LINE = 4
SOUND = _SCRIPT.format(', dtype="float32"')
