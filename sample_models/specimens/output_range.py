"""Relu for targets around 0, and no activation."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import dense, slope


def _program(faulty: bool) -> Program:
    return Program(dense(4, (1, "relu" if faulty else None), "mse"), slope(), {"epochs": 20})


SPECIMEN = Specimen("output-range", faulty=lambda: _program(True), healthy=lambda: _program(False))
