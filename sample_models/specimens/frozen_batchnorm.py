"""Batch normalisation frozen before it has seen anything, and one that learns."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import points_program


def faulty() -> Program:
    """Frozen between layers that train."""
    from keras import layers

    return points_program(
        [
            layers.Dense(24, use_bias=False),
            layers.BatchNormalization(trainable=False, name="norm"),
            layers.Activation("relu"),
        ]
    )


def healthy() -> Program:
    """It learns."""
    from keras import layers

    return points_program(
        [layers.Dense(24, use_bias=False), layers.BatchNormalization(name="norm"), layers.Activation("relu")]
    )


SPECIMEN = Specimen(check_id="frozen-batchnorm", faulty=faulty, healthy=healthy)
