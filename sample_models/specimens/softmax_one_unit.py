"""Softmax over one unit for yes or no, and sigmoid."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import dense, halves


def _program(faulty: bool) -> Program:
    model = dense(4, (1, "softmax" if faulty else "sigmoid"), "binary_crossentropy")
    return Program(model, halves(), {"epochs": 30})


SPECIMEN = Specimen("softmax-one-unit", faulty=lambda: _program(True), healthy=lambda: _program(False))
