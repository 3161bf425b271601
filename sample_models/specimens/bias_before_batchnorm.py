"""A bias before batch normalisation, and none."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import points_program


def faulty() -> Program:
    """The bias is taken away again."""
    from keras import layers

    return points_program([layers.Dense(24, name="hidden"), layers.BatchNormalization(), layers.Activation("relu")])


def healthy() -> Program:
    """No bias there."""
    from keras import layers

    return points_program(
        [layers.Dense(24, use_bias=False, name="hidden"), layers.BatchNormalization(), layers.Activation("relu")]
    )


SPECIMEN = Specimen(check_id="bias-before-batchnorm", faulty=faulty, healthy=healthy)
