"""Runs with batches of 16 and of 1,024 rows: the larger ones have learned next to nothing."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, runs


def _faulty() -> Program:
    return runs(**{"batch_size=16": {"loss": falling()}, "batch_size=1024": {"loss": falling(end=0.45)}})


def _healthy() -> Program:
    return runs(**{"batch_size=16": {"loss": falling()}, "batch_size=1024": {"loss": falling(end=0.055)}})


SPECIMEN = Specimen("batch-size-runs", faulty=_faulty, healthy=_healthy)
