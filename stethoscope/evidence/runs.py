"""All runs of a log beside each other: what checks across runs compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stethoscope.logs.evidence.curves import CurveEvidence


@dataclass(frozen=True)
class SharedPoints:
    """Points that a run has in common with an earlier one, to the last bit."""

    other: str
    """The earlier run."""
    tags: tuple[str, ...]
    """The losses and metrics that agree: all that both have."""
    points: int
    """How many points of each agree from the first on (the fewest of any tag)."""
    whole: bool
    """Whether that is all of both runs."""


@dataclass(frozen=True)
class LoggedRun:
    """One run: its settings, its curve in few points, and when it was written."""

    run: str
    group: str = ""
    tracker: str = ""
    unit: str = "step"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    curve: CurveEvidence | None = None
    """Its overview: at most some hundred points; None when no tag is a loss or a metric."""
    points: int = 0
    """Of all tags together."""
    shared: tuple[SharedPoints, ...] = ()
    first_wall: float | None = None
    """When its first point was written, seconds since 1970; None where the log has no times."""
    last_wall: float | None = None


@dataclass(frozen=True)
class RunsEvidence:
    """Every run that was read, oldest first."""

    runs: tuple[LoggedRun, ...]
    left_out: int = 0
    """Runs that were not examined because there were too many."""
