"""Adam with a learning rate of 2, and of 0.001."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import points_program


def faulty() -> Program:
    """Every step moves every weight by 2."""
    return _program(2.0)


def healthy() -> Program:
    """The default."""
    return _program(0.001)


def _program(rate: float) -> Program:
    import keras

    return points_program([keras.layers.Dense(24, activation="relu")], keras.optimizers.Adam(rate))


SPECIMEN = Specimen(check_id="learning-rate-range", faulty=faulty, healthy=healthy)
