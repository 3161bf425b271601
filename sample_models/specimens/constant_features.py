"""An array that was never filled, and the rows it was meant for."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.data_programs import classified
from sample_models.specimens.easy_rows import groups


def _faulty() -> Program:
    arrays = groups()
    arrays["x"][:] = 0.5
    return classified(arrays)


SPECIMEN = Specimen("constant-features", faulty=_faulty, healthy=classified)
