"""Pictures pooled down to one pixel before the last convolution, and pooled less."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.easy_rows import pictures


def faulty() -> Program:
    """16 pixels, four times halved, then a convolution."""
    return _program(pools=4)


def healthy() -> Program:
    """Halved twice."""
    return _program(pools=2)


def _program(pools: int) -> Program:
    import keras
    from keras import layers

    model = keras.Sequential([keras.Input((16, 16, 1))])
    for _ in range(pools):
        model.add(layers.Conv2D(8, 3, padding="same", activation="relu"))
        model.add(layers.MaxPooling2D())
    model.add(layers.Conv2D(8, 3, padding="same", activation="relu", name="last"))
    model.add(layers.Flatten())
    model.add(layers.Dense(4, activation="softmax"))
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return Program(model, pictures(), {"epochs": 5})


SPECIMEN = Specimen(check_id="vanishing-spatial-size", faulty=faulty, healthy=healthy)
