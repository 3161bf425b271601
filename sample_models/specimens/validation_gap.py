"""A log in which validation stays at chance while training learns."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, logged, rising


def _faulty() -> Program:
    return logged(
        loss=falling(), accuracy=rising(), val_loss=[1.2 + 0.05 * at for at in range(30)], val_accuracy=[0.5] * 30
    )


def _healthy() -> Program:
    return logged(loss=falling(), accuracy=rising(), val_loss=falling(end=0.1), val_accuracy=rising(end=0.95))


SPECIMEN = Specimen("validation-gap", faulty=_faulty, healthy=_healthy)
