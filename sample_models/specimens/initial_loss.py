"""A layer that multiplies everything by 50 before the output, so that the first loss is far above guessing; and without it."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import clusters, dense


def _program(faulty: bool) -> Program:
    model = dense(4, (6, "softmax"), "sparse_categorical_crossentropy", factor=50.0 if faulty else None)
    return Program(model, clusters(6), {"epochs": 30})


SPECIMEN = Specimen("initial-loss", faulty=lambda: _program(True), healthy=lambda: _program(False), trains=True)
