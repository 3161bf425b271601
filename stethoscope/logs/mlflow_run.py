"""One MLflow run, whichever store it was read from, as a run like any other.

Runs of a tracking server kept as a file: a small SQLite store as MLflow's own, which `mlflow_sqlite` reads like any other.

Source: mlflow/store/tracking/dbmodels/models.py.
"""

from __future__ import annotations

import math
import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from stethoscope.logs.series import Health, RunLog, Series

_TABLES = """
CREATE TABLE experiments (experiment_id INTEGER PRIMARY KEY, name TEXT, lifecycle_stage TEXT);
CREATE TABLE runs (run_uuid TEXT PRIMARY KEY, name TEXT, user_id TEXT, status TEXT, start_time INTEGER, end_time INTEGER,
    lifecycle_stage TEXT, experiment_id INTEGER);
CREATE TABLE metrics (run_uuid TEXT, key TEXT, step INTEGER, timestamp INTEGER, value REAL, is_nan INTEGER);
CREATE TABLE params (run_uuid TEXT, key TEXT, value TEXT);
CREATE TABLE tags (run_uuid TEXT, key TEXT, value TEXT);
CREATE TABLE datasets (dataset_uuid TEXT, experiment_id INTEGER, name TEXT, digest TEXT);
CREATE TABLE inputs (input_uuid TEXT, source_type TEXT, source_id TEXT, destination_type TEXT, destination_id TEXT);
CREATE TABLE input_tags (input_uuid TEXT, name TEXT, value TEXT);
"""
_MAX_INTEGER = (1 << 63) - 1


def write_store(runs: Iterable[MlflowRun], path: Path) -> None:
    """Writes runs into a new file. What was left out of them is kept as a tag, so that it is shown with them."""
    experiments: dict[str, int] = {}
    with closing(sqlite3.connect(path)) as database:
        database.executescript(_TABLES)
        for run in runs:
            number = experiments.setdefault(run.experiment, len(experiments) + 1)
            identity = _stored(run.id)
            times = (_whole(run.start_ms), _whole(run.end_ms) or None)
            database.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, 'active', ?)",
                (identity, *map(_stored, (run.name, run.user, run.status)), *times, number),
            )
            tags = dict(run.tags) | ({"left out": "; ".join(run.left_out)} if run.left_out else {})
            database.executemany("INSERT INTO params VALUES (?, ?, ?)", _texts(identity, run.parameters))
            database.executemany("INSERT INTO tags VALUES (?, ?, ?)", _texts(identity, tags))
            database.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", _points(run))
            for place, text in enumerate(run.datasets):
                dataset = f"{identity}-{place}"
                # A dataset is kept in the words it was read as: "digits 3efaaf32 (training)".
                database.execute("INSERT INTO datasets VALUES (?, ?, ?, '')", (dataset, number, _stored(text)))
                database.execute("INSERT INTO inputs VALUES (?, 'DATASET', ?, 'RUN', ?)", (dataset, dataset, identity))
        rows = ((number, _stored(name)) for name, number in experiments.items())
        database.executemany("INSERT INTO experiments VALUES (?, ?, 'active')", rows)
        database.commit()


def _texts(run: str, values: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    for name, text in values.items():
        yield run, _stored(name), _stored(text)


def _stored(text: str) -> str:
    """Half a character, which JSON can hold, is none to a database."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _points(run: MlflowRun) -> Iterator[tuple[str, str, int, int, float, int]]:
    """NaN is 0 beside a flag and an infinity the largest double, as MLflow keeps them."""
    for name, points in run.metrics.items():
        for step, milliseconds, value in zip(points.step, points.milliseconds, points.value, strict=True):
            stored = 0.0 if math.isnan(value) else max(-_LARGEST, min(_LARGEST, value))
            yield _stored(run.id), _stored(name), step, _whole(milliseconds), stored, int(math.isnan(value))


def _whole(milliseconds: float) -> int:
    return int(milliseconds) if math.isfinite(milliseconds) and abs(milliseconds) < _MAX_INTEGER else 0


MAX_RUNS = 20_000
"""Runs read of one store."""
MAX_TAGS = 20_000
"""Metrics of one run, and likewise its parameters and tags."""
MAX_TEXT = 8_000
"""Characters of a parameter or tag; MLflow itself takes no more."""
MAX_TOTAL_POINTS = 10_000_000
"""Points read of one store: 240 MB."""
STATUS = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
"""Source: mlflow/protos/service.proto, RunStatus."""
_LARGEST = 1.7976931348623157e308
_STEP = 1 << 63


class Points:
    """Points of one metric while they are read, 24 bytes each."""

    def __init__(self) -> None:
        self.step, self.milliseconds, self.value = array("q"), array("d"), array("d")

    def add(self, step: int, milliseconds: float, value: float) -> None:
        """Appends one point.

        Raises:
            OverflowError: the step is no 64-bit number.
        """
        if not -_STEP <= step < _STEP:
            raise OverflowError(step)
        self.step.append(step)
        self.milliseconds.append(milliseconds)
        self.value.append(value)

    def extend(self, steps: Iterable[int], milliseconds: Iterable[float], values: Iterable[float]) -> None:
        """Appends points whose steps are 64-bit numbers."""
        self.step.extend(steps)
        self.milliseconds.extend(milliseconds)
        self.value.extend(values)

    def series(self, tag: str) -> Series:
        """The points as arrays."""
        return Series(
            tag,
            np.array(self.step, np.int64),
            np.array(self.milliseconds, np.float64) / 1000,
            np.array(self.value, np.float64),
        )


@dataclass
class MlflowRun:
    """What a store says of one run."""

    id: str
    experiment: str
    name: str = ""
    status: str = ""
    user: str = ""
    start_ms: float = 0.0
    end_ms: float = 0.0
    parameters: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    datasets: list[str] = field(default_factory=list)
    """Data it was given: "name digest (context)"."""
    metrics: dict[str, Points] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    bad_records: int = 0
    truncated_bytes: int = 0
    left_out: list[str] = field(default_factory=list)

    def as_log(self, tracker: str) -> RunLog:
        """The run as curves, parameters and notes."""
        series = {name: points.series(name) for name, points in sorted(self.metrics.items()) if points.step}
        return RunLog(
            run=self.name or self.tags.get("mlflow.runName", "") or self.id[:8],
            tracker=tracker,
            unit=_unit(self.parameters, series),
            series=series,
            parameters={name: value_of(text) for name, text in sorted(self.parameters.items())},
            health=Health(
                bad_records=self.bad_records, truncated_bytes=self.truncated_bytes, left_out=tuple(self.left_out)
            ),
            files=self.files,
            group=self.experiment,
            notes=self._notes(),
        )

    def _notes(self) -> dict[str, str]:
        notes = {"id": self.id, "status": self.status, "user": self.user or self.tags.get("mlflow.user", "")}
        if 0 < self.start_ms <= self.end_ms:
            notes["duration_s"] = f"{(self.end_ms - self.start_ms) / 1000:.3f}"
        if self.datasets:
            notes["data"] = "; ".join(sorted(set(self.datasets)))
        notes |= {name: text for name, text in sorted(self.tags.items()) if not name.startswith("mlflow.")}
        notes |= {
            label: self.tags[tag]
            for label, tag in (("source", "mlflow.source.name"), ("commit", "mlflow.source.git.commit"))
            if tag in self.tags
        }
        return {name: text for name, text in notes.items() if text}


def as_logs(runs: Iterable[MlflowRun], tracker: str) -> tuple[RunLog, ...]:
    """All runs, oldest first, each with a name of its own: a name used twice gets the run's id behind it."""
    ordered = sorted(runs, key=lambda run: (run.start_ms, run.id))
    logs = [run.as_log(tracker) for run in ordered]
    uses = Counter(log.run for log in logs)
    named = [
        log if uses[log.run] == 1 else replace(log, run=f"{log.run} ({run.id})")
        for run, log in zip(ordered, logs, strict=True)
    ]
    return tuple(named)


def dataset_text(name: str, digest: str, context: str) -> str:
    """A dataset in a few words: "digits 3efaaf32 (training)"."""
    return " ".join(part for part in (name, digest, f"({context})" if context else "") if part)


def stored_value(value: float, is_nan: bool) -> float:
    """A metric of MLflow's SQL stores, which cannot hold NaN and infinities, as it was logged.

    NaN is kept as 0 beside a flag, an infinity as the largest double.
    Source: mlflow/store/tracking/sqlalchemy_store.py, `sanitize_metric_value`.
    """
    if is_nan:
        return math.nan
    return math.copysign(math.inf, value) if abs(value) >= _LARGEST else value


def value_of(text: str) -> Any:
    """A parameter, which MLflow keeps as text, as the number or truth value it spells; else the text."""
    if text in ("True", "False", "true", "false"):
        return text.lower() == "true"
    if len(text) > 40 or text != text.strip() or "_" in text:
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _unit(parameters: Mapping[str, str], series: Mapping[str, Series]) -> str:
    """ "epoch" when every step lies within the number of epochs the run was given, as Keras' autologging has it."""
    epochs = value_of(parameters.get("epochs", ""))
    if type(epochs) is not int or not series:
        return "step"
    low = min(int(one.step.min()) for one in series.values())
    high = max(int(one.step.max()) for one in series.values())
    return "epoch" if low >= 0 and high <= epochs and high > 0 else "step"
