"""Two hundred columns of which two count: boosted trees find them, a network learns the noise by heart; and those two alone."""

from __future__ import annotations

import numpy as np

from sample_models.specimen import Program, Specimen
from sample_models.specimens.data_programs import classified


def _program(columns: int) -> Program:
    x = np.random.default_rng(0).normal(size=(500, columns)).astype("float32")
    y = (x[:, 0] > 0).astype("int64") + (x[:, 1] > 0)
    return classified({"x": x, "y": y})


SPECIMEN = Specimen("worse-than-baseline", faulty=lambda: _program(200), healthy=lambda: _program(4), trains=True)
