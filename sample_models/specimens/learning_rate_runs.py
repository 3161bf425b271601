"""Runs at three learning rates of which one ends far above the others."""

from __future__ import annotations

from sample_models.specimen import Program, Specimen
from sample_models.specimens.curve_programs import falling, runs


def _faulty() -> Program:
    return runs(
        **{
            "lr=0.1": {"loss": falling(end=0.45)},
            "lr=0.01": {"loss": falling()},
            "lr=0.001": {"loss": falling(end=0.055)},
        }
    )


def _healthy() -> Program:
    return runs(**{"lr=0.01": {"loss": falling()}, "lr=0.001": {"loss": falling(end=0.055)}})


SPECIMEN = Specimen("learning-rate-runs", faulty=_faulty, healthy=_healthy)
