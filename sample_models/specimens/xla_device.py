"""A network compiled with jit_compile=True, and the same without."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.small_programs import dense, halves


def _program(faulty: bool) -> Program:
    model = dense(4, (1, "sigmoid"), "binary_crossentropy")
    model.compile(optimizer=model.optimizer, loss="binary_crossentropy", jit_compile=faulty)
    return Program(model, halves(), {"epochs": 30})


SPECIMEN = Specimen("xla-device", faulty=lambda: _program(True), healthy=lambda: _program(False))
