"""A deep stack of sigmoid layers, and the same with ReLU."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import classifier, fitted


def _faulty() -> Program:
    import keras

    return fitted(classifier(keras.optimizers.Adam(1e-2), (16,) * 6, "sigmoid"))


def _healthy() -> Program:
    return fitted(classifier(None, (16,) * 3))


SPECIMEN = Specimen("vanishing-gradient", faulty=_faulty, healthy=_healthy, trains=True)
