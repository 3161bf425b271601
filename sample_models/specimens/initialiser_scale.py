"""Initial weights of deviation 3 before tanh, and Glorot's."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import points_program


def faulty() -> Program:
    """Weights far too large for 8 and 48 inputs."""
    from keras import initializers, layers

    return points_program(
        [
            layers.Dense(48, activation="tanh", kernel_initializer=initializers.RandomNormal(stddev=3.0, seed=1)),
            layers.Dense(48, activation="tanh", kernel_initializer=initializers.RandomNormal(stddev=3.0, seed=2)),
        ]
    )


def healthy() -> Program:
    """The default."""
    from keras import layers

    return points_program([layers.Dense(48, activation="tanh"), layers.Dense(48, activation="tanh")])


SPECIMEN = Specimen(check_id="initialiser-scale", faulty=faulty, healthy=healthy)
