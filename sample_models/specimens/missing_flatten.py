"""A classifier of pictures without Flatten, and with it."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.easy_rows import pictures


def faulty() -> Program:
    """Dense is applied to every pixel."""
    return _program(flat=False)


def healthy() -> Program:
    """Flatten before it."""
    return _program(flat=True)


def _program(flat: bool) -> Program:
    import keras
    from keras import layers

    between = [layers.Flatten()] if flat else []
    convolution = layers.Conv2D(4, 3, strides=2, activation="relu")
    model = keras.Sequential([keras.Input((16, 16, 1)), convolution, *between, layers.Dense(4, activation="softmax")])
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return Program(model, pictures(), {"epochs": 5})


SPECIMEN = Specimen(check_id="missing-flatten", faulty=faulty, healthy=healthy)
