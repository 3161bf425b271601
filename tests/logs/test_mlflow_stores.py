"""MLflow's file store and SQLite store: whole, damaged, hostile."""

from __future__ import annotations

import math
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.logs import all_trackers, mlflow_files
from stethoscope.logs.dvc_values import read_yaml
from stethoscope.logs.mlflow_files import TRACKER as FILES
from stethoscope.logs.mlflow_run import stored_value, value_of
from stethoscope.logs.mlflow_sqlite import TRACKER as SQLITE
from tests.exploring import examples
from tests.tables import each

SCHEMA = """
CREATE TABLE experiments (experiment_id INTEGER PRIMARY KEY, name VARCHAR(256), lifecycle_stage VARCHAR(32));
CREATE TABLE runs (run_uuid VARCHAR(32) PRIMARY KEY, name VARCHAR(250), user_id VARCHAR(256), status VARCHAR(9),
    start_time BIGINT, end_time BIGINT, lifecycle_stage VARCHAR(20), experiment_id INTEGER);
CREATE TABLE metrics (key VARCHAR(250), value FLOAT, timestamp BIGINT, run_uuid VARCHAR(32), step BIGINT,
    is_nan BOOLEAN, PRIMARY KEY (key, timestamp, step, run_uuid, value, is_nan));
CREATE TABLE params (key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32));
CREATE TABLE tags (key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32));
CREATE TABLE datasets (dataset_uuid VARCHAR(36), experiment_id INTEGER, name VARCHAR(500), digest VARCHAR(36));
CREATE TABLE inputs (input_uuid VARCHAR(36), source_type VARCHAR(36), source_id VARCHAR(36),
    destination_type VARCHAR(36), destination_id VARCHAR(36));
CREATE TABLE input_tags (input_uuid VARCHAR(36), name VARCHAR(255), value VARCHAR(500));
INSERT INTO experiments VALUES (1, 'digits', 'active'), (2, 'gone', 'deleted');
INSERT INTO runs VALUES ('aa', 'first', 'ann', 'FINISHED', 1000, 3500, 'active', 1),
    ('bb', 'first', 'ann', 'FAILED', 2000, NULL, 'active', 1), ('cc', 'old', 'ann', 'FINISHED', 1, 2, 'deleted', 1),
    ('dd', 'older', 'ann', 'FINISHED', 1, 2, 'active', 2);
INSERT INTO metrics VALUES ('loss', 0.5, 1000, 'aa', 0, 0), ('loss', 0, 2000, 'aa', 1, 1),
    ('loss', 0, 3000, 'aa', 2, 0), ('loss', 1.7976931348623157e308, 4000, 'aa', 3, 0),
    ('loss', -1.7976931348623157e308, 5000, 'aa', 4, 0), ('acc', 1, 1000, 'bb', -1, 0), ('acc', 1, 1000, 'cc', 0, 0);
INSERT INTO params VALUES ('lr', '1e-3', 'aa'), ('epochs', '5', 'aa'), ('opt', 'adam', 'aa'), ('big', 'True', 'aa');
INSERT INTO tags VALUES ('note', 'hello', 'aa'), ('mlflow.source.git.commit', 'abc', 'aa');
INSERT INTO datasets VALUES ('d1', 1, 'six', '3efaaf32');
INSERT INTO inputs VALUES ('i1', 'DATASET', 'd1', 'RUN', 'aa');
INSERT INTO input_tags VALUES ('i1', 'mlflow.data.context', 'training');
"""


def run_folder(place, run="aa", metrics=None, **meta):
    folder = place / "mlruns" / "12" / run
    for name in ("metrics", "params", "tags"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder.parent / "meta.yaml").write_text("experiment_id: '12'\nname: digits\nlifecycle_stage: active\n")
    known = {"run_name": "first", "status": 3, "user_id": "ann", "start_time": 1000, "end_time": 3500, **meta}
    (folder / "meta.yaml").write_text("".join(f"{name}: {value}\n" for name, value in known.items()))
    for name, content in (metrics or {}).items():
        (folder / "metrics" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "metrics" / name).write_bytes(content)
    return folder


def database(place, *more):
    path = place / "mlflow.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        for statement in more:
            connection.execute(statement)
        connection.commit()
    return path


def test_the_file_store(tmp_path):
    lines = b"1000 0.5 0\n2000 nan 1\n3000 0 2\n4000 inf 3\n5000 1 -4 six 3efaaf32\n6000 2\n"
    folder = run_folder(tmp_path, metrics={"train/loss": lines})
    for name, text in (("params/lr", "1e-3"), ("params/name/deep", "a: b\nc"), ("tags/note", "hello")):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "inputs" / "i1").mkdir(parents=True)
    (folder / "inputs" / "i1" / "meta.yaml").write_text(
        "source_id: d1\nsource_type: DATASET\ntags:\n  mlflow.data.context: training\n"
    )
    (folder.parent / "datasets" / "d1").mkdir(parents=True)
    (folder.parent / "datasets" / "d1" / "meta.yaml").write_text("digest: 0012\nname: six\n")
    assert FILES.sniff(tmp_path)
    (run,) = FILES.read(tmp_path)
    assert (run.run, run.group, run.tracker, run.unit) == ("first", "digits", "mlflow-files", "step")
    loss = run.series["train/loss"]
    assert loss.step.tolist() == [0, 1, 2, 3, -4, 0]
    np.testing.assert_array_equal(loss.value, [0.5, math.nan, 0, math.inf, 1, 2])
    assert loss.wall_time[0] == 1.0
    assert run.parameters == {"lr": 0.001, "name/deep": "a: b\nc"}
    assert run.notes == {
        "id": "aa",
        "status": "FINISHED",
        "user": "ann",
        "duration_s": "2.500",
        "note": "hello",
        "data": "six 0012 (training)",
    }
    assert run.files == ("mlruns/12/aa/metrics/train/loss",)
    assert run.health.problem == ""


def test_a_run_or_an_experiment_alone(tmp_path):
    folder = run_folder(tmp_path, metrics={"loss": b"1 2 3\n"})
    for place in (folder, folder.parent, folder.parent.parent, tmp_path):
        assert [run.group for run in FILES.read(place)] == ["digits"]


def test_damaged_and_unfinished_lines(tmp_path):
    run_folder(tmp_path, metrics={"loss": b"1000 0.5 0\nrubbish\n1 2 99999999999999999999\n2000 0.25 1\n3000 0.12"})
    (run,) = FILES.read(tmp_path)
    assert run.series["loss"].value.tolist() == [0.5, 0.25]
    assert (run.health.bad_records, run.health.truncated_bytes) == (2, 9)


def test_a_damaged_description_loses_itself(tmp_path):
    folder = run_folder(tmp_path, metrics={"loss": b"1 2 3\n"})
    (folder / "meta.yaml").write_bytes(b"{[\xff")
    (run,) = FILES.read(tmp_path)
    assert run.run == "aa"
    assert "meta.yaml" in run.health.problem


@examples(100)
@given(
    st.dictionaries(
        st.sampled_from(["run_name", "status", "start_time", "lifecycle_stage", "user_id", "tags"]),
        st.one_of(
            st.sampled_from(
                ["''", "'123'", "[]", "file:///x/y", "null", "~", "a: b", "a #b", "a:", "*x", "&x 1", "{}", "- 1"]
            ),
            st.text("aB1_./:@+-' #[]\t", max_size=6),
        ),
    )
)
def test_descriptions_read_as_yaml_reads_them(tmp_path_factory, lines):
    folder = tmp_path_factory.mktemp("meta")
    text = "".join(f"{name}: {value}\n" for name, value in lines.items())
    (folder / "meta.yaml").write_text(text)
    assert mlflow_files._meta(folder) == read_yaml(folder / "meta.yaml", texts=True)


def test_folders_that_are_links_are_not_entered(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "password").write_text("secret")
    folder = run_folder(tmp_path / "store", metrics={"loss": b"1 2 3\n"})
    shutil.rmtree(folder / "tags", ignore_errors=True)
    (folder / "tags").symlink_to(outside)
    (run,) = FILES.read(tmp_path / "store")
    assert "password" not in run.notes and "loss" in run.series


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_run_that_may_not_be_read_is_named(tmp_path):
    folder = run_folder(tmp_path, metrics={"loss": b"1 2 3\n"})
    (folder / "metrics" / "loss").chmod(0)
    (run,) = FILES.read(tmp_path)
    assert "cannot be read" in run.health.problem


def test_a_store_that_changes_while_it_is_read(tmp_path, monkeypatch):
    run_folder(tmp_path, "aa", {"loss": b"1 2 3\n"})
    run_folder(tmp_path, "bb", {"loss": b"1 2 3\n"})
    original = mlflow_files._points

    def vanish(path, *rest):
        if "aa" in Path(path).parts:
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return original(path, *rest)

    monkeypatch.setattr(mlflow_files, "_points", vanish)
    gone, there = FILES.read(tmp_path)
    gone, there = (gone, there) if "cannot be read" in gone.health.problem else (there, gone)
    assert gone.series == {}
    assert there.series["loss"].value.tolist() == [2.0]


def test_deleted_runs_and_experiments_stay_deleted(tmp_path):
    run_folder(tmp_path, "aa", lifecycle_stage="deleted")
    run_folder(tmp_path, "bb")
    assert [run.notes["id"] for run in FILES.read(tmp_path)] == ["bb"]
    (tmp_path / "mlruns" / "12" / "meta.yaml").write_text("name: x\nlifecycle_stage: deleted\n")
    assert FILES.read(tmp_path) == ()


def test_links_out_of_the_store_are_not_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("1 2 3\n")
    folder = run_folder(tmp_path / "store")
    (folder / "metrics" / "loss").symlink_to(secret)
    (folder / "params" / "password").symlink_to(secret)
    (run,) = FILES.read(tmp_path / "store")
    assert (run.series, run.parameters) == ({}, {})


@examples(100)
@given(st.binary(max_size=300))
def test_metric_files_of_any_content(tmp_path_factory, content):
    place = tmp_path_factory.mktemp("mlflow")
    run_folder(place, metrics={"loss": content})
    (run,) = FILES.read(place)
    points = len(run.series["loss"].step) if "loss" in run.series else 0
    whole = content[: content.rfind(b"\n") + 1]
    assert points + run.health.bad_records == sum(bool(line.split()) for line in whole.split(b"\n"))


@examples(50)
@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.floats()), max_size=30), st.integers(0, 40))
def test_every_whole_line_survives_a_cut(tmp_path_factory, points, cut):
    place = tmp_path_factory.mktemp("mlflow")
    content = "".join(f"1 {value} {step}\n" for step, value in points).encode()
    kept = content[: max(0, len(content) - cut)]
    run_folder(place, metrics={"loss": kept})
    (run,) = FILES.read(place)
    whole = points[: kept.count(b"\n")]
    if whole:
        assert run.series["loss"].step.tolist() == [step for step, _ in whole]
        np.testing.assert_array_equal(run.series["loss"].value, [value for _, value in whole])
    else:
        assert run.series == {}


def test_the_sqlite_store(tmp_path):
    database(tmp_path)
    assert SQLITE.sniff(tmp_path)
    first, second = SQLITE.read(tmp_path)
    assert (first.run, second.run) == ("first (aa)", "first (bb)")
    assert (first.group, first.unit, first.files) == ("digits", "epoch", ("mlflow.db",))
    np.testing.assert_array_equal(first.series["loss"].value, [0.5, math.nan, 0, math.inf, -math.inf])
    assert second.series["acc"].step.tolist() == [-1]
    assert first.parameters == {"lr": 0.001, "epochs": 5, "opt": "adam", "big": True}
    assert first.notes["data"] == "six 3efaaf32 (training)"
    assert (first.notes["commit"], second.notes["status"]) == ("abc", "FAILED")


def test_an_older_schema_without_nan_flags(tmp_path):
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE experiments (experiment_id INTEGER, name TEXT, lifecycle_stage TEXT);"
            "CREATE TABLE runs (run_uuid TEXT, status TEXT, start_time BIGINT, experiment_id INTEGER);"
            "CREATE TABLE metrics (key TEXT, value FLOAT, timestamp BIGINT, run_uuid TEXT);"
            "CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);"
            "CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT);"
            "INSERT INTO experiments VALUES (0, 'Default', 'active');"
            "INSERT INTO runs VALUES ('aa', 'FINISHED', 5, 0); INSERT INTO metrics VALUES ('loss', 2, 1000, 'aa');"
        )
    (run,) = SQLITE.read(path)
    assert run.series["loss"].value.tolist() == [2.0]


def test_values_of_the_wrong_kind_are_damage(tmp_path):
    database(
        tmp_path,
        "INSERT INTO metrics VALUES ('loss', 'rubbish', 6000, 'aa', 5, 0)",
        "INSERT INTO metrics VALUES ('loss', 1, 6000, 'aa', 'x', 0)",
        "INSERT INTO metrics VALUES (x'00ff', 1, 6000, 'aa', 5, 0)",
    )
    first, _ = SQLITE.read(tmp_path)
    assert len(first.series["loss"].value) == 5
    assert first.health.bad_records == 3


def test_a_view_in_place_of_a_table_is_not_run(tmp_path):
    path = database(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "DROP TABLE metrics; CREATE VIEW metrics AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) "
            "SELECT 'loss' AS key, x AS value, 0 AS timestamp, 'aa' AS run_uuid, x AS step, 0 AS is_nan FROM n;"
        )
    begun = time.monotonic()
    assert not SQLITE.sniff(tmp_path)
    assert time.monotonic() - begun < 60


def test_a_database_being_written_is_read(tmp_path):
    path = database(tmp_path)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("INSERT INTO metrics VALUES ('loss', 9, 9000, 'aa', 9, 0)")
        writer.commit()
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}
        first, _ = SQLITE.read(tmp_path)
        assert first.series["loss"].value[-1] == 9
        assert before == {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith("-shm")}


def test_what_waits_beside_a_copied_database_is_read_or_missed_aloud(tmp_path):
    (tmp_path / "live").mkdir()
    (tmp_path / "copy").mkdir()
    path = database(tmp_path / "live")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("INSERT INTO metrics VALUES ('loss', 9, 9000, 'aa', 9, 0)")
        writer.commit()
        for name in ("mlflow.db", "mlflow.db-wal"):
            shutil.copy(tmp_path / "live" / name, tmp_path / "copy" / name)
    first, _ = SQLITE.read(tmp_path / "copy")
    assert first.series["loss"].value[-1] == 9 or "wal" in first.health.problem


@each("step", range(100, 40_000, 1733))
def test_a_damaged_database_never_raises(tmp_path, step):
    path = database(tmp_path)
    content = bytearray(path.read_bytes())
    for at in range(step, len(content), step):
        content[at] ^= 0xFF
    path.write_bytes(content)
    if SQLITE.sniff(tmp_path):
        for run in SQLITE.read(tmp_path):
            assert run.tracker == "mlflow-sqlite"


@each("size", [16, 100, 4096, 9000, 20_000])
def test_a_database_cut_short_never_raises(tmp_path, size):
    path = database(tmp_path)
    path.write_bytes(path.read_bytes()[:size])
    if SQLITE.sniff(tmp_path):
        SQLITE.read(tmp_path)


def test_parameters_are_what_they_spell():
    spelled = ["1e-3", "32", "True", "adam", "1_000", " 1", "nan", "", "9" * 41]
    assert [repr(value_of(text)) for text in spelled] == [
        "0.001",
        "32",
        "True",
        "'adam'",
        "'1_000'",
        "' 1'",
        "nan",
        "''",
        repr("9" * 41),
    ]
    assert stored_value(0.0, False) == 0.0


def test_both_stores_are_found():
    assert {"mlflow-files", "mlflow-sqlite", "dvc"} <= set(all_trackers())
