"""A log in which ten epochs are missing."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, logged


def _faulty() -> Program:
    return logged(epoch=[*range(10), *range(20, 35)], loss=[*falling(35)[:10], *falling(35)[20:]])


def _healthy() -> Program:
    return logged(epoch=range(35), loss=falling(35))


SPECIMEN = Specimen("stalled-writer", faulty=_faulty, healthy=_healthy)
