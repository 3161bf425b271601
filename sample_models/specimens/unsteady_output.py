"""Dropout called with training=True, and as usual."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.easy_rows import groups


def faulty() -> Program:
    """Every call drops other units."""
    return _program(training=True)


def healthy() -> Program:
    """Still in use."""
    return _program(training=None)


def _program(training: bool | None) -> Program:
    import keras
    from keras import layers

    columns = keras.Input((8,), name="columns")
    hidden = layers.Dense(24, activation="relu")(columns)
    hidden = layers.Dropout(0.5, name="drop")(hidden, training=training)
    model = keras.Model(columns, layers.Dense(3, activation="softmax", name="kind")(hidden))
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return Program(model, groups(), {"epochs": 20})


SPECIMEN = Specimen(check_id="unsteady-output", faulty=faulty, healthy=healthy)
