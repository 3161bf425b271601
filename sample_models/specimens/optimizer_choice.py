"""Adadelta at Keras' default rate hardly moves."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import classifier, fitted


def _faulty() -> Program:
    import keras

    return fitted(classifier(keras.optimizers.Adadelta(1e-3)))


def _healthy() -> Program:
    return fitted(classifier())


SPECIMEN = Specimen("optimizer-choice", faulty=_faulty, healthy=_healthy, trains=True)
