"""Softmax over labels that go together, and sigmoid."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import dense, tags


def _program(faulty: bool) -> Program:
    model = dense(4, (3, "softmax" if faulty else "sigmoid"), "binary_crossentropy", metric="binary_accuracy")
    return Program(model, tags(3), {"epochs": 30})


SPECIMEN = Specimen("multilabel-softmax", faulty=lambda: _program(True), healthy=lambda: _program(False))
