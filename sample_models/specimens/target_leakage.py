"""A table that still holds the label, and the table without it."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.data_programs import classified
from sample_models.specimens.easy_rows import groups


def _faulty() -> Program:
    arrays = groups()
    arrays["x"][:, 6] = arrays["y"] - 1
    return classified(arrays)


SPECIMEN = Specimen("target-leakage", faulty=_faulty, healthy=classified)
