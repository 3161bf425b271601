"""Accuracy for a regression, and the mean absolute error."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import dense, slope


def _program(faulty: bool) -> Program:
    model = dense(4, (1, None), "mse", metric="accuracy" if faulty else "mae")
    return Program(model, slope(), {"epochs": 20})


SPECIMEN = Specimen("metric-for-task", faulty=lambda: _program(True), healthy=lambda: _program(False))
