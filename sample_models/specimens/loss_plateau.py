"""A log whose learning rate dies away after a fifth of the epochs."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, logged, rising


def _faulty() -> Program:
    rates = [0.01 * 0.35**at for at in range(30)]
    return logged(loss=falling(end=0.4, pace=1.5), accuracy=rising(end=0.8, pace=1.5), learning_rate=rates)


def _healthy() -> Program:
    rates = [0.01 * (1 - at / 30) for at in range(30)]
    return logged(loss=falling(), accuracy=rising(), learning_rate=rates)


SPECIMEN = Specimen("loss-plateau", faulty=_faulty, healthy=_healthy)
