"""Whole logs, read by a worker into columns."""

from __future__ import annotations

import tarfile
import zipfile

import pytest

from stethoscope.codec import answer_of
from stethoscope.logs.runs.table import RunTable
from stethoscope.tasks.read_runs import RunsRead
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.logs.event_writing import event, simple, write_events


def read(engine, file: ModelFile, **params):
    return engine.wait(engine.submit(Job("read_runs", {"logs": file}, params, Budget(1 << 30, 60))), 60)


@pytest.fixture
def logs(tmp_path):
    place = tmp_path / "logs"
    write_events(place / "seed1", [event(step, simple("loss", 1 / (step + 1))) for step in range(5)])
    write_events(place / "seed2", [event(step, simple("loss", 2 / (step + 1))) for step in range(4)])
    return place


@pytest.mark.parametrize("kind", ["folder", "zip", "tar"])
def test_a_folder_or_an_archive_of_it(engine, logs, tmp_path, kind):
    path = logs
    if kind == "zip":
        path = tmp_path / "logs.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for file in logs.rglob("*tfevents*"):
                archive.write(file, file.relative_to(logs))
    elif kind == "tar":
        path = tmp_path / "logs.tar"
        with tarfile.open(path, "w") as archive:
            archive.add(logs, "logs")
    result = read(engine, ModelFile.at(path))
    assert result.status is Status.OK, result.reason
    found = answer_of(result, RunsRead)
    assert (found.runs, found.points, found.title) == (2, 9, path.name)
    table = RunTable.open(result.files)
    assert sorted(run.run.rpartition("/")[2] for run in table.runs) == ["seed1", "seed2"]


def test_a_file_is_known_by_the_name_its_owner_gave_it(engine, tmp_path):
    path = tmp_path / "0123456789abcdef"
    path.write_text("epoch,loss\n0,0.5\n1,0.25\n")
    result = read(engine, ModelFile(path, "training.csv"))
    assert result.status is Status.OK, result.reason
    table = RunTable.open(result.files)
    assert table.runs[0].run == "training.csv"
    assert table.series(0, "loss").value.tolist() == [0.5, 0.25]


def test_what_is_no_log_is_said(engine, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("nothing to see")
    result = read(engine, ModelFile.at(path))
    assert (result.status, result.error) == (Status.FAILED, "UnreadableFile")
    assert "notes.txt: " in result.reason


def test_what_is_followed_says_where_to_go_on(engine, logs, tmp_path):
    first = read(engine, ModelFile.at(logs), follow=True)
    since = {"logs": ModelFile.at(logs), "since": ModelFile.at(first.files["positions.json"])}
    job = Job("read_runs", since, {"follow": True}, Budget(1 << 30, 60))
    same = engine.wait(engine.submit(job), 60)
    assert (same.status, answer_of(same, RunsRead).changed, same.files) == (Status.OK, False, {})
    with next(logs.rglob("seed2/*")).open("ab") as stream:
        stream.write(event(4, simple("loss", 0.1)))
    more = answer_of(engine.wait(engine.submit(job), 60), RunsRead)
    assert (more.changed, more.points, more.runs) == (True, 1, 2)
