"""A log whose validation rows are easier than the training rows."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, logged, rising


def _faulty() -> Program:
    return logged(
        loss=falling(end=0.4), accuracy=rising(end=0.8), val_loss=falling(end=0.2), val_accuracy=rising(end=0.93)
    )


def _healthy() -> Program:
    return logged(
        loss=falling(end=0.25), accuracy=rising(end=0.9), val_loss=falling(end=0.23), val_accuracy=rising(end=0.91)
    )


SPECIMEN = Specimen("validation-better", faulty=_faulty, healthy=_healthy)
