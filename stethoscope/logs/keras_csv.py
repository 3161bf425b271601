"""Keras' CSVLogger: one row per epoch, one column per loss and metric.

Source: keras.io/api/callbacks/csv_logger. Missing values are written "NA"; a run that goes on appends to the file.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from stethoscope.evidence.curves import CurveEvidence
from stethoscope.logs.named_columns import Column, as_curve, latest_attempt
from stethoscope.logs.tracker import MAX_POINTS, MAX_TEXT_BYTES, files_in, modified

_ABSENT = ("", "na", "none")


class KerasCsv:
    """Reads .csv and .log files whose header names a loss."""

    id = "keras-csv"
    title = "CSV log (Keras CSVLogger)"

    def sniff(self, place: Path) -> bool:
        """Whether a table with a loss is there."""
        return any(_header(path) for path in _candidates(place))

    def read(self, place: Path) -> tuple[CurveEvidence, ...]:
        """One run per file."""
        found = [_read(path) for path in sorted(_candidates(place), key=modified)]
        return tuple(one for one in found if one is not None)


def _candidates(place: Path) -> list[Path]:
    return [path for path in files_in(place) if path.suffix.lower() in (".csv", ".log", ".tsv", ".txt")]


def _header(path: Path) -> tuple[list[str], str] | None:
    """(column names, separator), when the first line names a loss beside another column."""
    with path.open("rb") as stream:
        first = stream.readline(20_000).decode("utf-8", "replace").lstrip("\ufeff").strip()
    for separator in (",", ";", "\t"):
        names = [name.strip().strip('"') for name in first.split(separator)]
        if len(names) > 1 and any("loss" in name.lower() for name in names) and len(set(names)) == len(names):
            return names, separator
    return None


def _read(path: Path) -> CurveEvidence | None:
    found = _header(path)
    if found is None:
        return None
    names, separator = found
    with path.open("rb") as stream:
        content = stream.read(MAX_TEXT_BYTES)
    rows: list[list[str]] = []
    bad = 0
    lines = csv.reader(
        io.StringIO(content.decode("utf-8", "replace").lstrip("\ufeff"), newline=""), delimiter=separator
    )
    try:
        for number, cells in enumerate(lines):
            if number == 0 or not cells or [cell.strip() for cell in cells] == names:
                continue
            if len(cells) != len(names):
                bad += 1
            elif len(rows) < MAX_POINTS:
                rows.append(cells)
    except csv.Error:
        bad += 1
    return as_curve(path.name, "epoch", _columns(names, rows), f"{bad} damaged rows left out" if bad else "")


def _columns(names: list[str], rows: list[list[str]]) -> dict[str, Column]:
    at = next((index for index, name in enumerate(names) if name.lower() in ("epoch", "step")), None)
    steps: list[float] = []
    for index, cells in enumerate(rows):
        value = _number(cells[at]) if at is not None else None
        steps.append(float(index) if value is None else value)
    found = {}
    for column, name in enumerate(names):
        if column == at:
            continue
        pairs = [
            (step, value)
            for step, cells in zip(steps, rows, strict=True)
            if (value := _number(cells[column])) is not None
        ]
        if pairs:
            found[name] = latest_attempt([step for step, _ in pairs], [value for _, value in pairs])
    return found


def _number(cell: str) -> float | None:
    """The cell's number ("nan" and "inf" are numbers here); None where nothing or something else was written."""
    text = cell.strip()
    if text.lower() in _ABSENT:
        return None
    try:
        return float(text)
    except ValueError:
        return None


TRACKER = KerasCsv()
