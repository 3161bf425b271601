"""A hidden layer without activation, and one with relu."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import points_program


def faulty() -> Program:
    """Two linear maps in a row."""
    from keras import layers

    return points_program([layers.Dense(24, name="hidden"), layers.Dropout(0.1)])


def healthy() -> Program:
    """Relu between them."""
    from keras import layers

    return points_program([layers.Dense(24, activation="relu", name="hidden"), layers.Dropout(0.1)])


SPECIMEN = Specimen(check_id="linear-hidden-layers", faulty=faulty, healthy=healthy)
