"""The logarithm of inputs that can be 0, and of 1 more than them."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.easy_rows import pictures


def faulty() -> Program:
    """log(0)."""
    return _program(0.0)


def healthy() -> Program:
    """log(1 + x)."""
    return _program(1.0)


def _program(offset: float) -> Program:
    import keras
    from keras import layers

    arrays = pictures(size=4)
    arrays["x"] = arrays["x"].reshape(len(arrays["x"]), -1) * (arrays["x"].reshape(len(arrays["x"]), -1) > 0.1)
    pixels = keras.Input((16,), name="pixels")
    found = keras.ops.log(pixels + offset)
    hidden = layers.Dense(16, activation="relu")(found)
    model = keras.Model(pixels, layers.Dense(4, activation="softmax", name="quarter")(hidden))
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return Program(model, arrays, {"epochs": 5})


SPECIMEN = Specimen(check_id="nonfinite-activations", faulty=faulty, healthy=healthy)
