"""What is asked of a chart, and what it is made of.

A chart as bytes for the browser: a short JSON header, then numbers it can use without reading them one by one.

uint32 (little-endian) length of the header; the header, padded with spaces so that the numbers begin at a multiple of 8;
float64 arrays, which the header names as [first, count].

What a browser asks of a chart, checked: every number bounded, every run and tag one that is there.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np

from stethoscope.errors import BadInput
from stethoscope.logs.runs.selection import Axis, Floats, Restarts
from stethoscope.logs.runs.table import RunTable

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


_ARRAYS = ("x", "y", "smooth", "low", "high", "count")


def pack(chart: Chart, revision: int) -> bytes:
    """The chart as bytes."""
    arrays: list[Floats] = []
    at = 0
    series = []
    for line in chart.lines:
        one = _facts(line)
        for name in _ARRAYS:
            values: Floats | None = getattr(line, name)
            if values is None:
                if name == "smooth":
                    one[name] = None
                continue
            one[name] = [at, len(values)]
            arrays.append(values)
            at += len(values)
        series.append(one)
    header = {
        "revision": revision,
        "unit": chart.unit,
        "x_range": chart.x_range,
        "y_range": chart.y_range,
        "y_clipped": chart.y_clipped,
        "series": series,
    }
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-(4 + len(text)) % 8)
    numbers = np.concatenate(arrays).astype("<f8").tobytes() if arrays else b""
    return struct.pack("<I", len(text)) + text + numbers


def _facts(line: Line) -> dict[str, Any]:
    named: dict[str, Any] = {"group": line.group} if line.group is not None else {"run": line.run}
    return named | {
        "points": line.points,
        "total": line.total,
        "thinned": line.thinned,
        "marks": [list(mark) for mark in line.marks],
        "marks_total": line.marks_total,
        "best": line.best,
        "last": line.last,
    }


MAX_COLUMNS = 10_000
MAX_GROUPS = 2_000
_MAX_NAME = 1_000
_AXES = ("step", "relative", "wall")
_RESTARTS = ("latest", "all")


def view_of(value: Any, table: RunTable) -> View:
    """The view a request describes.

    Raises:
        BadInput: something is no fitting value; names it.
    """
    if not isinstance(value, Mapping):
        raise BadInput("The request: expected a JSON object. Reload the page.")
    smoothing = _number(value, "smoothing", 0.0)
    if not 0 <= smoothing < 1:
        raise _bad("smoothing", "a number from 0 to below 1", smoothing)
    return View(
        tag=_index(value.get("tag"), "tag", len(table.tags)),
        runs=_runs(value.get("runs"), "runs", table),
        x=cast("Axis", _word(value, "x", _AXES)),
        low=_bound(value, "low"),
        high=_bound(value, "high"),
        columns=min(MAX_COLUMNS, max(1, round(_number(value, "columns", 800)))),
        smoothing=smoothing,
        restarts=cast("Restarts", _word(value, "restarts", _RESTARTS)),
        groups=_groups(value.get("groups"), table),
    )


def _groups(value: Any, table: RunTable) -> tuple[tuple[str, tuple[int, ...]], ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) > MAX_GROUPS:
        raise _bad("groups", f"a list of at most {MAX_GROUPS:,} groups", value)
    found = []
    for one in value:
        if not isinstance(one, list) or len(one) != 2 or not isinstance(one[0], str):
            raise _bad("groups", "pairs of a name and runs", one)
        found.append((one[0][:_MAX_NAME], _runs(one[1], "groups", table) or ()))
    return tuple(found)


def _runs(value: Any, name: str, table: RunTable) -> tuple[int, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) > len(table.runs):
        raise _bad(name, "a list of runs", value)
    return tuple(_index(one, name, len(table.runs)) for one in value)


def _index(value: Any, name: str, count: int) -> int:
    if type(value) is not int or not 0 <= value < count:
        raise _bad(name, f"a number below {count:,}", value)
    return int(value)


def _bound(value: Mapping[str, Any], name: str) -> float | None:
    return None if value.get(name) is None else _number(value, name, 0.0)


def _number(value: Mapping[str, Any], name: str, default: float) -> float:
    found = value.get(name, default)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found) or abs(found) > 1e300:
        raise _bad(name, "a number", found)
    return float(found)


def _word(value: Mapping[str, Any], name: str, words: tuple[str, ...]) -> str:
    found = value.get(name, words[0])
    if found not in words:
        raise _bad(name, " or ".join(words), found)
    return str(found)


def _bad(name: str, expected: str, got: Any) -> BadInput:
    return BadInput(f"{name}: expected {expected}, got {str(got)[:100]!r}. Reload the page.")
