"""A hidden layer with softmax, and one with relu."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import points_program


def faulty() -> Program:
    """Softmax on the hidden layer."""
    from keras import layers

    return points_program([layers.Dense(24, activation="softmax", name="hidden")])


def healthy() -> Program:
    """Relu there."""
    from keras import layers

    return points_program([layers.Dense(24, activation="relu", name="hidden")])


SPECIMEN = Specimen(check_id="softmax-hidden", faulty=faulty, healthy=healthy)
