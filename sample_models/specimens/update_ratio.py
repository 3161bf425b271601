"""A learning rate that decays tenfold at every step, so that soon nothing moves any more; and one that stays."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import classifier, fitted


def _faulty() -> Program:
    import keras

    decaying = keras.optimizers.schedules.ExponentialDecay(1e-3, decay_steps=1, decay_rate=0.1)
    return fitted(classifier(keras.optimizers.Adam(decaying)))


def _healthy() -> Program:
    return fitted(classifier())


SPECIMEN = Specimen("update-ratio", faulty=_faulty, healthy=_healthy, trains=True)
