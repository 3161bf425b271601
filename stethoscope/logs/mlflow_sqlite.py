"""MLflow's SQLite store (`mlflow.db`), opened for reading only, as untrusted as any upload.

Source: mlflow/store/tracking/dbmodels/models.py. NaN is value 0 with `is_nan` 1, an infinity the largest double.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from io import FileIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

from stethoscope.logs.mlflow_run import (
    MAX_RUNS,
    MAX_TAGS,
    MAX_TEXT,
    MAX_TOTAL_POINTS,
    MlflowRun,
    Points,
    as_logs,
    dataset_text,
    stored_value,
)
from stethoscope.logs.series import MAX_POINTS, RunLog
from stethoscope.logs.walk import listing
from stethoscope.models.containers import damage

_MAGIC = b"SQLite format 3\0"
_LEAST_BYTES = 512
"""Of a database: its smallest page. Source: sqlite.org/fileformat.html."""
_NEEDED = ("experiments", "runs", "metrics", "params", "tags")
_TIME_S = 120.0
_STEPS_BETWEEN_LOOKS = 100_000
_WANTED = {
    "experiments": ("experiment_id", "name", "lifecycle_stage"),
    "runs": ("run_uuid", "name", "status", "user_id", "start_time", "end_time", "lifecycle_stage", "experiment_id"),
    "params": ("run_uuid", "key", "value"),
    "tags": ("run_uuid", "key", "value"),
    "metrics": ("run_uuid", "key", "step", "timestamp", "value", "is_nan"),
    "inputs": ("input_uuid", "source_type", "source_id", "destination_type", "destination_id"),
    "input_tags": ("input_uuid", "name", "value"),
    "datasets": ("dataset_uuid", "name", "digest"),
}


class MlflowSqlite:
    """Reads SQLite files with MLflow's tables."""

    id = "mlflow-sqlite"
    title = "MLflow runs (SQLite)"

    def sniff(self, place: Path) -> bool:
        """Whether such a database is there."""
        return any(_is_mlflow(path) for path in _candidates(place))

    def read(self, place: Path) -> tuple[RunLog, ...]:
        """Every run that was not deleted, oldest first."""
        found: list[MlflowRun] = []
        for path in _candidates(place):
            if _is_mlflow(path):
                found.extend(_read(path, path.relative_to(place).as_posix() if path != place else path.name))
        return as_logs(found, self.id)


def _candidates(place: Path) -> Iterator[Path]:
    for one in listing(place).files:
        if one.size < _LEAST_BYTES:
            continue
        try:
            with FileIO(one.path) as stream:
                head = stream.read(len(_MAGIC))
        except OSError:
            continue
        if head == _MAGIC:
            yield Path(one.path)


def _open(path: Path) -> tuple[sqlite3.Connection, bool]:
    """The database, unable to change anything, run what is stored in it, hold huge values or take for ever.

    One that another program is writing in write-ahead mode needs its neighbouring files; where those cannot be used, it
    is read as it lies.
    """
    deadline = time.monotonic() + _TIME_S
    for options in ("mode=ro", "mode=ro&immutable=1"):
        database = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{options}", uri=True, timeout=5.0)
        database.text_factory = lambda content: content.decode("utf-8", "replace")
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 16 << 20)
        database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        database.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS_BETWEEN_LOOKS)
        try:
            for pragma in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON", "mmap_size=0"):
                database.execute(f"PRAGMA {pragma}")
            database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            database.close()
            continue
        except damage.SQLITE:
            database.close()
            raise
        return database, options == "mode=ro" or not _waiting(path)
    raise sqlite3.OperationalError("unable to open database file")


def _waiting(path: Path) -> bool:
    """Whether something written in write-ahead mode is not in the database itself yet."""
    ahead = path.with_name(f"{path.name}-wal")
    return ahead.is_file() and ahead.stat().st_size > 0


def _tables(database: sqlite3.Connection) -> dict[str, set[str]]:
    """Columns by table. A view is none: reading it would run what its author wrote."""
    found = {}
    for name in _WANTED:
        row = database.execute("SELECT type FROM sqlite_master WHERE name = ?", (name,)).fetchone()
        if row and row[0] == "table":
            found[name] = {
                str(column[1]) for column in database.execute(f"PRAGMA table_xinfo({name})") if not column[6]
            }
    return found


def _is_mlflow(path: Path) -> bool:
    try:
        with closing(_open(path)[0]) as database:
            found = _tables(database)
    except damage.SQLITE:
        return False
    return all(name in found for name in _NEEDED) and {"run_uuid", "key", "value"} <= found["metrics"]


def _read(path: Path, name: str) -> list[MlflowRun]:
    runs: dict[str, MlflowRun] = {}
    problem = ""
    try:
        opened, whole = _open(path)
        if not whole:
            problem = f"what waits in {path.name}-wal was not read"
        with closing(opened) as database:
            tables = _tables(database)
            _describe(database, tables, runs)
            _measure(database, tables, runs)
            _data(database, tables, runs)
    except damage.SQLITE as error:
        problem = f"the database is damaged or busy, the rest was not read ({error})"
    for run in runs.values():
        run.files = (name,)
        if problem:
            run.left_out.append(problem)
    return list(runs.values())


def _rows(database: sqlite3.Connection, tables: dict[str, set[str]], name: str) -> Iterator[Sequence[Any]]:
    """Rows of a table in the order written, with None for a column that older versions did not have."""
    if name not in tables:
        return
    columns = ", ".join(column if column in tables[name] else "NULL" for column in _WANTED[name])
    cursor = database.execute(f"SELECT {columns} FROM {name} ORDER BY rowid")
    while rows := cursor.fetchmany(10_000):
        yield from rows


def _describe(database: sqlite3.Connection, tables: dict[str, set[str]], runs: dict[str, MlflowRun]) -> None:
    experiments = {row[0]: _text(row[1]) for row in _rows(database, tables, "experiments") if row[2] != "deleted"}
    for identity, name, status, user, start, end, stage, experiment in _rows(database, tables, "runs"):
        if stage == "deleted" or experiment not in experiments or not isinstance(identity, str):
            continue
        if len(runs) >= MAX_RUNS:
            next(iter(runs.values())).left_out.append(f"only the first {MAX_RUNS:,} runs were read")
            break
        runs[identity] = MlflowRun(
            identity, experiments[experiment], _text(name), _text(status), _text(user), _number(start), _number(end)
        )
    for table in ("params", "tags"):
        for identity, key, value in _rows(database, tables, table):
            if (run := runs.get(identity)) is None or not isinstance(key, str):
                continue
            kept = run.parameters if table == "params" else run.tags
            if len(kept) < MAX_TAGS:
                kept[key] = _text(value)


def _measure(database: sqlite3.Connection, tables: dict[str, set[str]], runs: dict[str, MlflowRun]) -> None:
    total, counts, full = 0, dict.fromkeys(runs, 0), set()
    for identity, key, step, timestamp, value, is_nan in _rows(database, tables, "metrics"):
        run = runs.get(identity)
        if run is None:
            continue
        if not isinstance(key, str) or type(value) not in (int, float) or type(step) not in (int, type(None)):
            run.bad_records += 1
            continue
        if total >= MAX_TOTAL_POINTS or counts[identity] >= MAX_POINTS:
            full.add(identity)
            continue
        points = run.metrics.get(key)
        if points is None:
            if len(run.metrics) >= MAX_TAGS:
                full.add(identity)
                continue
            points = run.metrics[key] = Points()
        points.add(step or 0, _number(timestamp) or float("nan"), stored_value(float(value), bool(is_nan)))
        total += 1
        counts[identity] += 1
    for identity in full:
        runs[identity].left_out.append(f"only the first {counts[identity]:,} points were read")


def _data(database: sqlite3.Connection, tables: dict[str, set[str]], runs: dict[str, MlflowRun]) -> None:
    known = {row[0]: (_text(row[1]), _text(row[2])) for row in _rows(database, tables, "datasets")}
    contexts = {
        row[0]: _text(row[2]) for row in _rows(database, tables, "input_tags") if row[1] == "mlflow.data.context"
    }
    for link, source_type, source, target_type, target in _rows(database, tables, "inputs"):
        if source_type == "DATASET" and target_type == "RUN" and target in runs and source in known:
            runs[target].datasets.append(dataset_text(*known[source], contexts.get(link, "")))


def _text(value: object) -> str:
    return str(value)[:MAX_TEXT] if isinstance(value, (str, int, float)) else ""


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


TRACKER = MlflowSqlite()
