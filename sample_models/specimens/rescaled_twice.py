"""Scaled pictures for a model that scales them too, and pictures as they come."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.data_programs import seen
from sample_models.specimens.easy_rows import pictures


def _program(factor: float) -> Program:
    arrays = pictures()
    arrays["x"] *= factor
    return seen(arrays, rescaled=True)


SPECIMEN = Specimen("rescaled-twice", faulty=lambda: _program(1.0), healthy=lambda: _program(255.0))
