"""Training pictures scaled and test pictures as they come, and both scaled."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.data_programs import seen
from sample_models.specimens.easy_rows import pictures


def _program(factor: float) -> Program:
    test = pictures(rows=60, seed=1)
    return seen(pictures() | {"x_test": test["x"] * factor, "y_test": test["y"]})


SPECIMEN = Specimen("split-difference", faulty=lambda: _program(255.0), healthy=lambda: _program(1.0))
