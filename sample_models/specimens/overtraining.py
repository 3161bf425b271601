"""A log in which the validation loss turns after ten epochs."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, logged


def _faulty() -> Program:
    return logged(loss=falling(40), val_loss=[0.4 + (at - 10) ** 2 / 500 for at in range(40)])


def _healthy() -> Program:
    return logged(loss=falling(40), val_loss=falling(40, end=0.1))


SPECIMEN = Specimen("overtraining", faulty=_faulty, healthy=_healthy)
