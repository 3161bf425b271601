"""Runs of a tracking server kept as a file: a small SQLite store as MLflow's own, which `mlflow_sqlite` reads like any other.

Source: mlflow/store/tracking/dbmodels/models.py.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from stethoscope.logs.mlflow_run import MlflowRun

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
_LARGEST = 1.7976931348623157e308
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
