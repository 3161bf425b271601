"""Dropout after the output, and before it."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.easy_rows import groups


def faulty() -> Program:
    """Half of the predictions are dropped."""
    return _program(last=True)


def healthy() -> Program:
    """Half of the hidden units are."""
    return _program(last=False)


def _program(last: bool) -> Program:
    import keras
    from keras import layers

    drop = layers.Dropout(0.5, name="drop")
    output = layers.Dense(3, activation="softmax", name="kind")
    ending = [output, drop] if last else [drop, output]
    model = keras.Sequential([keras.Input((8,)), layers.Dense(24, activation="relu"), *ending])
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return Program(model, groups(), {"epochs": 20})


SPECIMEN = Specimen(check_id="dropout-placement", faulty=faulty, healthy=healthy)
