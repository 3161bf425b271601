"""A class that these columns cannot tell from a more common one, and classes that lie apart."""

from __future__ import annotations

import numpy as np

from sample_models.specimen import Program, Specimen
from sample_models.specimens.data_programs import classified

_COUNTS = (300, 200, 90)


def _program(apart: float) -> Program:
    random = np.random.default_rng(0)
    y = random.permutation(np.repeat(np.arange(3), _COUNTS))
    centres = np.array([[0.0, 0.0, 0.0], [2.5, -2.0, 2.0], [-apart, apart, apart]])
    x = centres[y] + random.normal(size=(len(y), 3)) * 0.8
    return classified({"x": ((x - x.mean(0)) / x.std(0)).astype("float32"), "y": y.astype("int64")})


SPECIMEN = Specimen("per-class-error", faulty=lambda: _program(0.0), healthy=lambda: _program(2.5), trains=True)
