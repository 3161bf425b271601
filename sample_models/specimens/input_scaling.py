"""A table with an income column as it comes, and the same table standardised."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.data_programs import classified
from sample_models.specimens.easy_rows import groups


def _faulty() -> Program:
    arrays = groups()
    arrays["x"][:, 3] = 60_000 + 20_000 * arrays["x"][:, 3]
    return classified(arrays)


SPECIMEN = Specimen("input-scaling", faulty=_faulty, healthy=classified)
