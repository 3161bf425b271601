"""Rows sorted by class with a validation split, and shuffled ones."""

from __future__ import annotations

import numpy as np

from sample_models.specimen import Program, Specimen
from sample_models.specimens.data_programs import classified
from sample_models.specimens.easy_rows import groups


def _program(in_order: bool) -> Program:
    arrays = groups(classes=5)
    if in_order:
        order = np.argsort(arrays["y"], kind="stable")
        arrays = {name: array[order] for name, array in arrays.items()}
    return classified(arrays, classes=5, validation_split=0.2)


SPECIMEN = Specimen("sorted-split", faulty=lambda: _program(True), healthy=lambda: _program(False), trains=True)
