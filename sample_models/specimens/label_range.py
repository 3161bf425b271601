"""Classes numbered from 1, and from 0."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import clusters, dense


def _program(faulty: bool) -> Program:
    arrays = clusters(3)
    arrays["y"] = arrays["y"] + int(faulty)
    return Program(dense(4, (3, "softmax"), "sparse_categorical_crossentropy"), arrays, {"epochs": 30})


SPECIMEN = Specimen("label-range", faulty=lambda: _program(True), healthy=lambda: _program(False))
