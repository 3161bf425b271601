"""Softmax twice, and once."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.easy_rows import groups


def faulty() -> Program:
    """Softmax on top of softmax."""
    return _program(doubled=True)


def healthy() -> Program:
    """One of them."""
    return _program(doubled=False)


def _program(doubled: bool) -> Program:
    import keras
    from keras import layers

    last = [layers.Activation("softmax", name="again")] if doubled else []
    hidden = layers.Dense(24, activation="relu")
    model = keras.Sequential([keras.Input((8,)), hidden, layers.Dense(3, activation="softmax", name="kind"), *last])
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return Program(model, groups(), {"epochs": 20})


SPECIMEN = Specimen(check_id="doubled-activation", faulty=faulty, healthy=healthy)
