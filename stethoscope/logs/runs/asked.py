"""What a browser asks of a chart, checked: every number bounded, every run and tag one that is there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

from stethoscope.errors import BadInput
from stethoscope.logs.runs.chart import View
from stethoscope.logs.runs.selection import Axis, Restarts
from stethoscope.logs.runs.table import RunTable

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
