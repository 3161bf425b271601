"""A ring cannot be told from its centre without a hidden layer."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import classifier, fitted


def _faulty() -> Program:
    return fitted(classifier(units=()))


def _healthy() -> Program:
    return fitted(classifier())


SPECIMEN = Specimen("underfitting", faulty=_faulty, healthy=_healthy, trains=True)
