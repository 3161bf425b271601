"""A model in which nothing can learn, and one in which all can."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import points_program


def faulty() -> Program:
    """Frozen as a whole."""
    return _program(frozen=True)


def healthy() -> Program:
    """Trainable."""
    return _program(frozen=False)


def _program(frozen: bool) -> Program:
    from keras import layers

    program = points_program([layers.Dense(24, activation="relu", name="hidden")])
    for layer in program.model.layers:
        layer.trainable = not frozen
    program.model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return program


SPECIMEN = Specimen(check_id="frozen-layers", faulty=faulty, healthy=healthy)
