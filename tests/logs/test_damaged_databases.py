"""MLflow databases with damaged bytes: read as far as it goes, and never an error."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stethoscope.logs.mlflow_sqlite import TRACKER
from tests.exploring import examples

_SCHEMA = """
create table zzzz(a);
create table experiments(experiment_id integer primary key, name text, lifecycle_stage text);
create table runs(run_uuid text primary key, name text, experiment_id integer, status text, start_time bigint,
    end_time bigint, lifecycle_stage text, artifact_uri text);
create table metrics(key text, value float, timestamp bigint, run_uuid text, step bigint, is_nan boolean);
create table params(key text, value text, run_uuid text);
create table tags(key text, value text, run_uuid text);
insert into experiments values(1, 'e', 'active');
insert into runs values('r', 'n', 1, 'FINISHED', 1000, 2000, 'active', 'x');
insert into params values('rate', '0.1', 'r');
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(_SCHEMA)
        database.executemany(
            "insert into metrics values('loss', ?, ?, 'r', ?, 0)", [(1 / (i + 1), i, i) for i in range(99)]
        )
        database.commit()
    return path.read_bytes()


def read(folder: Path, content: bytes) -> int:
    path = folder / "mlflow.db"
    path.write_bytes(content)
    return sum(len(log.series) for log in TRACKER.read(path)) if TRACKER.sniff(path) else 0


def test_an_error_that_quotes_bytes_that_are_no_text_is_survived(tmp_path: Path, whole: bytes) -> None:
    assert read(tmp_path, whole) == 1
    assert read(tmp_path, whole.replace(b"zzzz", b"z\xffz(")) == 0


@examples(40)
@given(
    st.lists(st.tuples(st.floats(0, 1) | st.floats(0, 0.06), st.integers(0, 255)), min_size=1, max_size=6),
    st.just(1.0) | st.floats(0, 1),
)
@example([(0.0, 255)], 1.0)
def test_damage_anywhere_is_survived(tmp_path_factory, whole, changes, left):
    data = bytearray(whole)
    for place, byte in changes:
        data[int(place * (len(data) - 1))] = byte
    read(tmp_path_factory.mktemp("damaged"), bytes(data[: int(left * len(data))]))
