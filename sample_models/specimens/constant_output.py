"""A trained classifier that says class 0 to every row, and one that does not."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import as_if_trained, points_program


def faulty() -> Program:
    """One bias outweighs everything."""
    return _program(bias=30.0)


def healthy() -> Program:
    """The biases are small."""
    return _program(bias=0.0)


def _program(bias: float) -> Program:
    from keras import layers

    program = points_program([layers.Dense(24, activation="relu", name="hidden")])
    as_if_trained(program.model)
    kind = program.model.get_layer("kind")
    values = kind.bias.numpy().copy()
    values[0] += bias
    kind.bias.assign(values)
    return program


SPECIMEN = Specimen(check_id="constant-output", faulty=faulty, healthy=healthy)
