"""A rate so large that training overshoots."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import classifier, fitted


def _faulty() -> Program:
    import keras

    return fitted(classifier(keras.optimizers.SGD(10.0)))


def _healthy() -> Program:
    return fitted(classifier())


SPECIMEN = Specimen("learning-rate-high", faulty=_faulty, healthy=_healthy, trains=True)
