"""A model for six features and rows of four, and a model for four."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import clusters, dense


def _program(faulty: bool) -> Program:
    model = dense(6 if faulty else 4, (3, "softmax"), "sparse_categorical_crossentropy")
    return Program(model, clusters(3), {"epochs": 30})


SPECIMEN = Specimen("input-shape", faulty=lambda: _program(True), healthy=lambda: _program(False))
