"""Rows that two people labelled differently, and rows with one label each."""

from __future__ import annotations

import numpy as np

from sample_models.specimen import Program, Specimen
from sample_models.specimens.data_programs import classified
from sample_models.specimens.easy_rows import groups


def _faulty() -> Program:
    arrays = groups(rows=160)
    x = np.concatenate([arrays["x"], arrays["x"][:100]])
    y = np.concatenate([arrays["y"], (arrays["y"][:100] + 1) % 3])
    order = np.random.default_rng(0).permutation(len(y))
    return classified({"x": x[order], "y": y[order]})


SPECIMEN = Specimen("conflicting-labels", faulty=_faulty, healthy=classified)
