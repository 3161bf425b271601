"""Class numbers divided by 255, and class numbers."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import clusters, dense


def _program(faulty: bool) -> Program:
    arrays = clusters(5)
    if faulty:
        arrays["y"] = (arrays["y"] / 255).astype("float32")
    return Program(dense(4, (5, "softmax"), "sparse_categorical_crossentropy"), arrays, {"epochs": 30})


SPECIMEN = Specimen("label-encoding", faulty=lambda: _program(True), healthy=lambda: _program(False))
