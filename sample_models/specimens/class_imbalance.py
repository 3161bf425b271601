"""Forty rows of one class for each of the other, and as many of both."""

from __future__ import annotations

import numpy as np

from sample_models.specimen import Program, Specimen
from sample_models.specimens.data_programs import classified
from sample_models.specimens.easy_rows import groups


def _program(rare: int) -> Program:
    arrays = groups(rows=900, classes=2)
    kept = np.sort(np.concatenate([np.flatnonzero(arrays["y"] == 0)[:400], np.flatnonzero(arrays["y"] == 1)[:rare]]))
    return classified({name: array[kept] for name, array in arrays.items()}, classes=2)


SPECIMEN = Specimen("class-imbalance", faulty=lambda: _program(10), healthy=lambda: _program(400))
