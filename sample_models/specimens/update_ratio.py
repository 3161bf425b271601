"""Updates below what a 32-bit number can hold."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import classifier, fitted


def _faulty() -> Program:
    import keras

    return fitted(classifier(keras.optimizers.Adam(1e-12)))


def _healthy() -> Program:
    return fitted(classifier())


SPECIMEN = Specimen("update-ratio", faulty=_faulty, healthy=_healthy, trains=True)
