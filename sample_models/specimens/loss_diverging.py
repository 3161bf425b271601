"""A log in which the loss doubles each epoch."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, logged


def _faulty() -> Program:
    return logged(loss=[0.7 * 2.0**at for at in range(15)])


def _healthy() -> Program:
    return logged(loss=falling())


SPECIMEN = Specimen("loss-diverging", faulty=_faulty, healthy=_healthy)
