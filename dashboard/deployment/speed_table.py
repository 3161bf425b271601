"""The times of models as tables: a row for each model and batch size, a row for each model, and all of it as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from dashboard import escape, words
from stethoscope.compare.latency_row import Row, TimedModel
from stethoscope.memory.call_styles import TITLES

_NUMBERS = ("calls", "first_call_s", "p50_s", "p90_s", "p99_s", "mean_s", "rows_per_s", "peak_bytes")


def titles(rows: Sequence[Row], names: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """What to call each line, by role and call: the model, with the call where a model has several.

    Args:
        rows: of an answer.
        names: of the models' files, by role. Hostile.
    """
    calls: dict[str, set[str]] = {}
    for row in rows:
        calls.setdefault(row.role, set()).add(row.call)
    return {
        (row.role, row.call): names.get(row.role, row.model)
        + (f" · {TITLES.get(row.call, row.call)}" if len(calls[row.role]) > 1 else "")
        for row in rows
    }


def timed(rows: Sequence[Row]) -> dict[int, list[Row]]:
    """The rows that have times by batch size, ascending."""
    found: dict[int, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.batch_size):
        if row.p50_s:
            found.setdefault(row.batch_size, []).append(row)
    return found


def base(rows: Sequence[Row]) -> Row | None:
    """The row of the model in view among those of one batch size: what others are compared with."""
    return next((row for row in rows if row.role == "model" and row.p50_s), None)


def times(rows: Sequence[Row], called: Mapping[tuple[str, str], str]) -> dict[str, list[str]]:
    """One row for each model, call and batch size, the fastest of each batch size marked."""
    columns: dict[str, list[str]] = {
        title: []
        for title in (
            "Rows a call",
            "Model",
            "p50",
            "p90",
            "p99",
            "Against the model in view",
            "Rows per second",
            "First call",
            "Calls",
            "Threads",
            "Device",
            "Memory added",
        )
    }
    groups = timed(rows)
    for row in sorted(rows, key=lambda row: row.batch_size):
        beside = groups.get(row.batch_size, [])
        cells = (
            words.count(row.batch_size),
            escape.clip(called[row.role, row.call], 60),
            _time(row.p50_s) if row.p50_s else "no time",
            _time(row.p90_s),
            _time(row.p99_s),
            _against(row, beside),
            "—" if not row.rows_per_s else words.significant(row.rows_per_s),
            _time(row.first_call_s),
            words.count(row.calls),
            str(row.threads),
            escape.clip(row.device, 20),
            _size(row.peak_bytes),
        )
        for column, cell in zip(columns.values(), cells, strict=True):
            column.append(cell)
    return columns


def models(found: Sequence[TimedModel], names: Mapping[str, str]) -> dict[str, list[str]]:
    """One row for each model: runtime, size on disk, parameters, time to load, memory."""
    first = next((one.size_bytes for one in found if one.role == "model"), None)
    return {
        "Model": [escape.clip(names.get(one.role, one.name), 60) for one in found],
        "Runtime": [escape.clip(one.runtime or "—", 40) for one in found],
        "Size": [_size(one.size_bytes) for one in found],
        "Against the model in view": [
            "—" if not first or not one.size_bytes or one.role == "model" else words.share(one.size_bytes, first)
            for one in found
        ],
        "Parameters": ["—" if one.parameters is None else words.count(one.parameters) for one in found],
        "Loading": [_time(one.load_s) for one in found],
        "Memory added": [_size(one.peak_bytes) for one in found],
    }


def as_csv(rows: Sequence[Row], found: Sequence[TimedModel]) -> bytes:
    """All numbers of the rows, with the size and loading of their models; nothing in it starts a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    by_role = {one.role: vars(one) for one in found}
    head = ("model", "runtime", "call", "device", "threads", "batch_size", *_NUMBERS, "size_bytes", "load_s", "reason")
    writer.writerow(head)
    for row in rows:
        whole = {**{key: by_role.get(row.role, {}).get(key) for key in ("size_bytes", "load_s")}, **vars(row)}
        writer.writerow([_cell(whole.get(key)) for key in head])
    return out.getvalue().encode()


def faster(row: Row, than: Row) -> str:
    """How a row's median compares with another's: "4.2 × as fast", "30 % slower"."""
    assert than.p50_s is not None and row.p50_s is not None
    ratio = than.p50_s / row.p50_s
    if 0.98 <= ratio <= 1.02:
        return "as fast"
    if ratio >= 2:
        return f"{words.significant(ratio, 2)} × as fast"
    if ratio > 1:
        return f"{100 * (1 - 1 / ratio):.0f} % less time"
    slower = 1 / ratio
    return f"{words.significant(slower, 2)} × the time" if slower >= 2 else f"{100 * (slower - 1):.0f} % more time"


def _against(row: Row, beside: Sequence[Row]) -> str:
    if not row.p50_s:
        return "—"
    first = base(beside)
    said = "—" if first is None or first is row else faster(row, first)
    if len(beside) > 1 and row.p50_s == min(one.p50_s for one in beside if one.p50_s):
        return "fastest" if said == "—" else f"{said}, fastest"
    return said


def _time(value: float | None) -> str:
    return "—" if value is None else words.duration(value)


def _size(value: int | None) -> str:
    return "—" if value is None else words.size(value)


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
