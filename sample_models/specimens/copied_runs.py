"""Three runs of which two are the same to the last bit."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, rising, runs


def _faulty() -> Program:
    one = {"loss": falling(), "accuracy": rising()}
    return runs(first=one, second=one, third={"loss": falling(end=0.06), "accuracy": rising(end=0.96)})


def _healthy() -> Program:
    return runs(
        first={"loss": falling(), "accuracy": rising()},
        second={"loss": falling(end=0.06), "accuracy": rising(end=0.96)},
    )


SPECIMEN = Specimen("copied-runs", faulty=_faulty, healthy=_healthy)
