"""A chart as bytes for the browser: a short JSON header, then numbers it can use without reading them one by one.

uint32 (little-endian) length of the header; the header, padded with spaces so that the numbers begin at a multiple of 8;
float64 arrays, which the header names as [first, count].
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from stethoscope.logs.runs.chart import Chart, Line
from stethoscope.logs.runs.selection import Floats

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
