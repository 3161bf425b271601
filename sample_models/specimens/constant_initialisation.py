"""Hidden weights that all start at 0, and random ones."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import points_program


def faulty() -> Program:
    """Nothing passes."""
    from keras import layers

    return points_program([layers.Dense(24, activation="relu", kernel_initializer="zeros", name="hidden")])


def healthy() -> Program:
    """The default."""
    from keras import layers

    return points_program([layers.Dense(24, activation="relu", name="hidden")])


SPECIMEN = Specimen(check_id="constant-initialisation", faulty=faulty, healthy=healthy)
