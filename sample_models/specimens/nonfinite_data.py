"""Three empty cells in a table, and the same table without them."""

from __future__ import annotations

import numpy as np

from sample_models.specimen import Program, Specimen
from sample_models.specimens.data_programs import classified
from sample_models.specimens.easy_rows import groups


def _faulty() -> Program:
    arrays = groups()
    arrays["x"][[7, 80, 200], [1, 2, 5]] = np.nan
    return classified(arrays)


SPECIMEN = Specimen("nonfinite-data", faulty=_faulty, healthy=classified)
