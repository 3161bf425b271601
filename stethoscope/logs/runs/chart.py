"""What is asked of a chart, and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from stethoscope.logs.runs.selection import Axis, Floats, Restarts

Pair = tuple[float, float]


@dataclass(frozen=True)
class View:
    """What of a chart is asked for."""

    tag: int
    runs: tuple[int, ...] | None = None
    """Indices; None for all."""
    x: Axis = "step"
    low: float | None = None
    high: float | None = None
    columns: int = 800
    """Pixel columns."""
    smoothing: float = 0.0
    restarts: Restarts = "latest"
    groups: tuple[tuple[str, tuple[int, ...]], ...] | None = None
    """Names and runs; the chart then has one series per group, mean and deviation."""


class Mark(NamedTuple):
    """A value no line can show."""

    x: float
    kind: str
    """Of "nan", "+inf", "-inf"."""
    y_hint: float | None
    """The value before it, or after it where it is the first."""


@dataclass(frozen=True)
class Line:
    """One series of a chart; arrays of shape (points drawn,)."""

    x: Floats
    y: Floats
    run: int | None = None
    group: str | None = None
    smooth: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None
    count: Floats | None = None
    """Of a group: how many runs each point is the mean of."""
    points: int = 0
    """In the window, before thinning."""
    total: int = 0
    """In the whole run."""
    thinned: bool = False
    marks: tuple[Mark, ...] = ()
    marks_total: int = 0
    best: Pair | None = None
    last: Pair | None = None


@dataclass(frozen=True)
class Chart:
    """What to draw."""

    unit: str
    """What steps count: "step" or "epoch", "" where runs differ."""
    x_range: Pair | None
    """Of all points, whatever the window."""
    y_range: Pair | None
    """Of what is in the window, with a margin."""
    y_clipped: Pair | None
    """The same without outliers: of the smoothed values where there are such."""
    lines: list[Line] = field(default_factory=list)
