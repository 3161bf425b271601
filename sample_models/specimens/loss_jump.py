"""A log in which the loss is back where it began from epoch 15 on, and falls again."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, logged


def _faulty() -> Program:
    return logged(loss=[*falling(15), *falling(15)])


def _healthy() -> Program:
    return logged(loss=falling(30))


SPECIMEN = Specimen("loss-jump", faulty=_faulty, healthy=_healthy)
