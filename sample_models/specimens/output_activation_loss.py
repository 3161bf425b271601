"""Scores without activation into categorical cross-entropy, and softmax."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import clusters, dense, one_hot


def _program(faulty: bool) -> Program:
    model = dense(4, (3, None if faulty else "softmax"), "categorical_crossentropy")
    return Program(model, one_hot(clusters(3), 3), {"epochs": 30})


SPECIMEN = Specimen("output-activation-loss", faulty=lambda: _program(True), healthy=lambda: _program(False))
