"""A weight that is NaN, and none."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import as_if_trained, points_program


def faulty() -> Program:
    """As a diverged training leaves it."""
    return _program(broken=True)


def healthy() -> Program:
    """All weights are numbers."""
    return _program(broken=False)


def _program(broken: bool) -> Program:
    from keras import layers

    program = points_program([layers.Dense(24, activation="relu", name="hidden")])
    as_if_trained(program.model)
    if broken:
        kernel = program.model.get_layer("hidden").kernel
        values = kernel.numpy().copy()
        values[2, :5] = float("nan")
        kernel.assign(values)
    return program


SPECIMEN = Specimen(check_id="nonfinite-weights", faulty=faulty, healthy=healthy)
