"""Dropout of 0.95, and of 0.2."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import points_program


def faulty() -> Program:
    """Hardly a unit is left."""
    from keras import layers

    return points_program([layers.Dense(24, activation="relu"), layers.Dropout(0.95, name="drop")])


def healthy() -> Program:
    """A usual rate."""
    from keras import layers

    return points_program([layers.Dense(24, activation="relu"), layers.Dropout(0.2, name="drop")])


SPECIMEN = Specimen(check_id="dropout-rate", faulty=faulty, healthy=healthy)
