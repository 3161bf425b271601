"""A log in which the loss swings."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, logged


def _faulty() -> Program:
    return logged(loss=[0.7 + 0.4 * (-1) ** at for at in range(30)])


def _healthy() -> Program:
    return logged(loss=falling())


SPECIMEN = Specimen("loss-oscillating", faulty=_faulty, healthy=_healthy)
