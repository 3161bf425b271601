"""One epoch where many are needed."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import classifier, fitted


def _faulty() -> Program:
    import keras

    return fitted(classifier(keras.optimizers.Adam(1e-2)), epochs=1)


def _healthy() -> Program:
    return fitted(classifier())


SPECIMEN = Specimen("too-few-epochs", faulty=_faulty, healthy=_healthy, trains=True)
