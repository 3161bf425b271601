"""Logs arrive as a folder, one file, or an archive of several."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest

from stethoscope.codec import answer_of
from stethoscope.logs.curves import CurveEvidence
from stethoscope.types import Budget, Job, ModelFile, Status

CSV = "epoch,loss,val_loss\n0,0.9,0.95\n1,0.5,0.6\n2,0.3,0.5\n"


def read(engine, path: Path):
    job = Job("read_logs", {"logs": ModelFile.at(path)}, {}, Budget(1 << 30, 60), "light")
    return engine.wait(engine.submit(job), 60)


@pytest.fixture
def log(tmp_path) -> Path:
    path = tmp_path / "training.csv"
    path.write_text(CSV)
    return path


def test_one_file(engine, log):
    result = read(engine, log)
    assert result.status is Status.OK, result.reason
    assert answer_of(result, CurveEvidence).loss == (0.9, 0.5, 0.3)


def test_a_zip_of_a_folder(engine, log, tmp_path):
    path = tmp_path / "run.logs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(log, "run/training.csv")
    result = read(engine, path)
    assert result.status is Status.OK, result.reason
    assert answer_of(result, CurveEvidence).val_loss == (0.95, 0.6, 0.5)


def test_a_tar_of_a_folder(engine, log, tmp_path):
    path = tmp_path / "run.logs.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(log, "run/training.csv")
    assert answer_of(read(engine, path), CurveEvidence).loss == (0.9, 0.5, 0.3)


def test_an_archive_that_escapes_is_refused(engine, log, tmp_path):
    path = tmp_path / "evil.logs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(log, "../../escaped.csv")
    result = read(engine, path)
    assert result.status is not Status.OK
    assert "escape" in result.reason or ".." in result.reason, result.reason


def test_what_is_no_log_says_what_would_be(engine, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    result = read(engine, path)
    assert result.status is not Status.OK
    assert "expected training logs" in result.reason
