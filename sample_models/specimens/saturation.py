"""Tanh units driven to their ends by large trained weights, and ordinary ones."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import as_if_trained, points_program


def faulty() -> Program:
    """Weights forty times too large."""
    return _program(factor=40.0)


def healthy() -> Program:
    """Weights as they start."""
    return _program(factor=1.0)


def _program(factor: float) -> Program:
    from keras import layers

    program = points_program([layers.Dense(24, activation="tanh", name="hidden")])
    as_if_trained(program.model)
    hidden = program.model.get_layer("hidden")
    hidden.kernel.assign(hidden.kernel.numpy() * factor)
    return program


SPECIMEN = Specimen(check_id="saturation", faulty=faulty, healthy=healthy)
