"""A log of a training that was begun anew at epoch 8, with fresh weights."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, logged


def _faulty() -> Program:
    return logged(epoch=[*range(15), *range(8, 30)], loss=[*falling(15), *falling(22)])


def _healthy() -> Program:
    return logged(epoch=range(30), loss=falling(30))


SPECIMEN = Specimen("restarted-run", faulty=_faulty, healthy=_healthy)
