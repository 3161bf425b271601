"""All rows in one batch: one update per epoch."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import classifier, fitted, rings


def _faulty() -> Program:
    return fitted(classifier(), rings(2000), epochs=6, batch_size=2000)


def _healthy() -> Program:
    return fitted(classifier(), rings(2000), epochs=6)


SPECIMEN = Specimen("batch-size", faulty=_faulty, healthy=_healthy, trains=True)
