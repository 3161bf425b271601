"""Batch normalisation that remembers other data, and its own."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.compiled import as_if_trained, points_program


def faulty() -> Program:
    """It was trained on columns around 30 with a small spread."""
    return _program(mean=30.0, variance=0.04)


def healthy() -> Program:
    """It remembers columns like these."""
    return _program(mean=0.05, variance=1.0)


def _program(mean: float, variance: float) -> Program:
    import numpy as np
    from keras import layers

    norm = layers.BatchNormalization(name="norm")
    program = points_program([norm, layers.Dense(24, activation="relu")])
    as_if_trained(program.model)
    random = np.random.default_rng(0)
    norm.gamma.assign(1 + random.normal(size=8) * 0.02)
    norm.moving_mean.assign(mean + random.normal(size=8) * 0.02)
    norm.moving_variance.assign(variance * random.uniform(0.9, 1.1, size=8))
    return program


SPECIMEN = Specimen(check_id="train-eval-difference", faulty=faulty, healthy=healthy)
