"""A trained classifier whose last weights are 0, and one that reads its input."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import as_if_trained, points_program


def faulty() -> Program:
    """Nothing of the input reaches the output."""
    return _program(factor=0.0)


def healthy() -> Program:
    """Weights as they start."""
    return _program(factor=1.0)


def _program(factor: float) -> Program:
    from keras import layers

    program = points_program([layers.Dense(24, activation="relu", name="hidden")])
    as_if_trained(program.model)
    kind = program.model.get_layer("kind")
    kind.kernel.assign(kind.kernel.numpy() * factor)
    return program


SPECIMEN = Specimen(check_id="null-input", faulty=faulty, healthy=healthy)
