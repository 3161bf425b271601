"""Hidden biases that start at -8, and at 0."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import points_program


def faulty() -> Program:
    """The sigmoids are flat there."""
    from keras import initializers, layers

    return points_program(
        [layers.Dense(24, activation="sigmoid", bias_initializer=initializers.Constant(-8.0), name="hidden")]
    )


def healthy() -> Program:
    """The default."""
    from keras import layers

    return points_program([layers.Dense(24, activation="sigmoid", name="hidden")])


SPECIMEN = Specimen(check_id="output-bias", faulty=faulty, healthy=healthy)
