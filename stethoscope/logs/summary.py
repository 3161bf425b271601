"""A tag in one line: how many points, where it ends, and where it was best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stethoscope.logs.better import best_is_low
from stethoscope.logs.series import Series


@dataclass(frozen=True)
class TagSummary:
    """One tag of one run, without what a restart overwrote."""

    tag: str
    points: int
    written: int
    """Points in the file: more than `points` where a restarted run overwrote some."""
    first_step: int
    last_step: int
    last_value: float
    best_value: float | None
    """None where no value is finite."""
    best_step: int | None
    best: str
    """"min" or "max"."""
    nonfinite: int


def summary_of(series: Series) -> TagSummary:
    """The summary of a tag with at least one point."""
    latest = series.latest()
    finite = np.flatnonzero(np.isfinite(latest.value))
    higher = not best_is_low(series.tag)
    at = None
    if len(finite):
        known = latest.value[finite]
        at = int(finite[int(known.argmax() if higher else known.argmin())])
    return TagSummary(
        tag=series.tag,
        points=len(latest.step),
        written=len(series.step),
        first_step=int(latest.step[0]),
        last_step=int(latest.step[-1]),
        last_value=float(latest.value[-1]),
        best_value=None if at is None else float(latest.value[at]),
        best_step=None if at is None else int(latest.step[at]),
        best="max" if higher else "min",
        nonfinite=int(len(latest.value) - len(finite)),
    )
