"""Softmax into a loss that is told to apply it itself, and a loss that is not."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import clusters, dense


def _program(faulty: bool) -> Program:
    from keras import losses

    model = dense(4, (3, "softmax"), losses.SparseCategoricalCrossentropy(from_logits=faulty))
    return Program(model, clusters(3), {"epochs": 30})


SPECIMEN = Specimen("from-logits", faulty=lambda: _program(True), healthy=lambda: _program(False))
