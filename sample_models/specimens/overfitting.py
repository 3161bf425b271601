"""A log that ends at 0.99 in training and 0.6 in validation."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, logged, rising


def _faulty() -> Program:
    loss, accuracy = falling(), rising(end=0.99)
    return logged(loss=loss, accuracy=accuracy, val_loss=falling(end=0.5), val_accuracy=rising(end=0.6))


def _healthy() -> Program:
    return logged(loss=falling(), accuracy=rising(), val_loss=falling(end=0.1), val_accuracy=rising(end=0.95))


SPECIMEN = Specimen("overfitting", faulty=_faulty, healthy=_healthy)
