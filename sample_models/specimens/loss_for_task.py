"""Three classes for one sigmoid unit with binary cross-entropy, and three softmax units."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import clusters, dense


def _program(faulty: bool) -> Program:
    if faulty:
        return Program(dense(4, (1, "sigmoid"), "binary_crossentropy"), clusters(3), {"epochs": 30})
    return Program(dense(4, (3, "softmax"), "sparse_categorical_crossentropy"), clusters(3), {"epochs": 30})


SPECIMEN = Specimen("loss-for-task", faulty=lambda: _program(True), healthy=lambda: _program(False))
