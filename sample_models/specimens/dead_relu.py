"""Relu units whose biases were thrown far below zero, and ordinary ones."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import as_if_trained, points_program


def faulty() -> Program:
    """Every unit is off for every row."""
    return _program(shift=-40.0)


def healthy() -> Program:
    """Biases around 0."""
    return _program(shift=0.0)


def _program(shift: float) -> Program:
    from keras import layers

    program = points_program([layers.Dense(24, activation="relu", name="hidden")])
    as_if_trained(program.model)
    hidden = program.model.get_layer("hidden")
    hidden.bias.assign(hidden.bias.numpy() + shift)
    return program


SPECIMEN = Specimen(check_id="dead-relu", faulty=faulty, healthy=healthy)
