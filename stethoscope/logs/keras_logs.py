"""What Keras itself logs: CSVLogger, one row per epoch, one column per loss and metric; a History as JSON.

Source: keras.io/api/callbacks/csv_logger. Missing values are written "NA"; a run that goes on appends to the file.

Keras' History as JSON: {"loss": [...], "val_loss": [...]}, alone or under "history" beside "epoch".

Source: keras.io/api/models/model_training_apis, `History.history`; people write it with `json.dump`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.logs.series import MAX_POINTS, MAX_TEXT_BYTES, Health, RunLog, Series, modified, name_of, restarts_of
from stethoscope.logs.walk import listing
from stethoscope.models.containers.damage import JSON

_SUFFIXES = (".csv", ".log", ".tsv", ".txt")
_ABSENT = ("", "na", "none")
_DVCLIVE = (("plots", "metrics"), ("plots", "scalars"))


class KerasCsv:
    """Reads .csv and .log files whose header names a loss."""

    id = "keras-csv"
    title = "CSV log (Keras CSVLogger)"

    def sniff(self, place: Path) -> bool:
        """Whether a table with a loss is there."""
        return any(_header(path) for path in _candidates(place))

    def read(self, place: Path) -> tuple[RunLog, ...]:
        """One run per file."""
        found = [_read(path, name_of(path, place)) for path in sorted(_candidates(place), key=modified)]
        return tuple(one for one in found if one is not None)


def _candidates(place: Path) -> list[Path]:
    found = (Path(one.path) for one in listing(place).files if one.name.lower().endswith(_SUFFIXES))
    return [path for path in found if not _is_of_dvclive(path, place)]


def _is_of_dvclive(path: Path, place: Path) -> bool:
    """Whether DVCLive wrote it: a file per curve, which its own tracker reads as one run."""
    folders = path.relative_to(place).parts[:-1]
    return path.suffix.lower() == ".tsv" and any(pair in _DVCLIVE for pair in pairwise(folders))


def _header(path: Path) -> tuple[list[str], str] | None:
    """(column names, separator), when the first line names a loss beside another column."""
    with path.open("rb") as stream:
        first = stream.readline(20_000).decode("utf-8", "replace").lstrip("\ufeff").strip()
    for separator in (",", ";", "\t"):
        names = [name.strip().strip('"') for name in first.split(separator)]
        if len(names) > 1 and any("loss" in name.lower() for name in names) and len(set(names)) == len(names):
            return names, separator
    return None


def _read(path: Path, run: str) -> RunLog | None:
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
    series = _series(names, rows)
    if not series:
        return None
    return RunLog(run, "keras-csv", "epoch", series, health=Health(bad, restarts=restarts_of(series)), files=(run,))


def _series(names: list[str], rows: list[list[str]]) -> dict[str, Series]:
    at = next((index for index, name in enumerate(names) if name.lower() in ("epoch", "step")), None)
    steps = _steps([cells[at] for cells in rows] if at is not None else [""] * len(rows))
    found = {}
    for column, name in enumerate(names):
        numbers = [_number(cells[column]) for cells in rows]
        kept = [index for index, value in enumerate(numbers) if value is not None]
        if column != at and kept:
            values = np.array([numbers[index] for index in kept], np.float64)
            found[name] = Series(name, steps[kept], np.full(len(kept), np.nan), values)
    return found


def _steps(cells: list[str]) -> npt.NDArray[np.int64]:
    """The steps written, or the numbers of the rows where one of them is not whole."""
    numbers = [_number(cell) for cell in cells]
    whole = [int(one) for one in numbers if one is not None and abs(one) < 1 << 62 and one == int(one)]
    return np.array(whole if len(whole) == len(cells) else range(len(cells)), np.int64)


def _number(cell: str) -> float | None:
    """The cell's number ("nan" and "inf" are numbers here); None where nothing or something else was written."""
    text = cell.strip()
    if text.lower() in _ABSENT:
        return None
    try:
        return float(text)
    except ValueError:
        return None


class KerasHistory:
    """Reads .json files that hold lists of numbers under names of losses."""

    id = "keras-history"
    title = "History as JSON (Keras)"

    def sniff(self, place: Path) -> bool:
        """Whether such a file is there."""
        return any(_history_series(path) for path in _histories(place))

    def read(self, place: Path) -> tuple[RunLog, ...]:
        """One run per file."""
        found = []
        for path in sorted(_histories(place), key=modified):
            series, name = _history_series(path), name_of(path, place)
            if series:
                health = Health(restarts=restarts_of(series))
                found.append(RunLog(name, self.id, "epoch", series, health=health, files=(name,)))
        return tuple(found)


def _histories(place: Path) -> list[Path]:
    return [
        Path(one.path)
        for one in listing(place).files
        if one.name.lower().endswith(".json") and one.size <= MAX_TEXT_BYTES
    ]


def _history_series(path: Path) -> dict[str, Series]:
    """The lists by name; empty when the file is something else."""
    try:
        value = json.loads(path.read_bytes())
    except JSON:
        return {}
    if not isinstance(value, Mapping):
        return {}
    inner = value.get("history", value)
    if not isinstance(inner, Mapping):
        return {}
    epochs = _numbers(value.get("epoch", inner.get("epoch")))
    found = {}
    for name, items in inner.items():
        numbers = _numbers(items)
        if numbers and name != "epoch":
            written = len(epochs) == len(numbers) and all(one.is_integer() and abs(one) < 1 << 62 for one in epochs)
            steps = np.array(epochs if written else range(len(numbers))).astype(np.int64)
            found[str(name)] = Series(str(name), steps, np.full(len(numbers), np.nan), np.array(numbers))
    return found if any("loss" in name.lower() for name in found) else {}


def _numbers(items: Any) -> tuple[float, ...]:
    """A list of numbers (null is NaN, text such as "nan" what it names); empty for anything else.

    pandas writes columns as {"0": …, "1": …}; that is a list too.
    """
    if isinstance(items, Mapping):
        items = list(items.values())
    if not isinstance(items, list) or not items or len(items) > MAX_POINTS:
        return ()
    try:
        return tuple(float("nan") if item is None else float(item) for item in items)
    except (TypeError, ValueError, OverflowError):
        return ()


TRACKERS = (KerasCsv(), KerasHistory())
