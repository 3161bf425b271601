"""A log in which nothing moves."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, logged, rising


def _faulty() -> Program:
    return logged(loss=[0.693] * 30, accuracy=[0.5] * 30)


def _healthy() -> Program:
    return logged(loss=falling(), accuracy=rising())


SPECIMEN = Specimen("loss-flat", faulty=_faulty, healthy=_healthy)
