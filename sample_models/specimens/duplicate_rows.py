"""A table that was exported twice, and once."""

from __future__ import annotations

import numpy as np

from sample_models.specimen import Program, Specimen
from sample_models.specimens.data_programs import classified
from sample_models.specimens.easy_rows import groups


def _faulty() -> Program:
    arrays = groups(rows=160)
    return classified({name: np.concatenate([array, array[:80]]) for name, array in arrays.items()})


SPECIMEN = Specimen("duplicate-rows", faulty=_faulty, healthy=classified)
