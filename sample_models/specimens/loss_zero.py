"""A log in which the loss is zero and every second prediction is wrong."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, logged, rising


def _faulty() -> Program:
    return logged(loss=[0.0] * 20, accuracy=[0.5] * 20)


def _healthy() -> Program:
    return logged(loss=falling(), accuracy=rising())


SPECIMEN = Specimen("loss-zero", faulty=_faulty, healthy=_healthy)
