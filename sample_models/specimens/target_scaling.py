"""Prices as they come, and the same prices standardised."""

from __future__ import annotations

from sample_models.specimen import Specimen
from sample_models.specimens.data_programs import measured

SPECIMEN = Specimen("target-scaling", faulty=lambda: measured(90_000.0, 300_000.0), healthy=measured)
