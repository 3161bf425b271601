"""What somebody sent lies where its readers find the same runs under the same names, however it came."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from stethoscope.logs.walk import log_place
from stethoscope.types import ModelFile


def packed(path: Path, *members: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for member in members:
            archive.writestr(member, "x")
    return path


def test_a_folder_stays_where_it_is(tmp_path):
    assert log_place(ModelFile(tmp_path, "logs"), tmp_path / "job") == tmp_path


def test_an_archive_of_one_folder_is_that_folder(tmp_path):
    file = packed(tmp_path / "0a1b", "training/run-1/a.csv", "training/run-2/a.csv")
    place = log_place(ModelFile(file, "training.logs.zip"), tmp_path)
    assert place.name == "training"
    assert sorted(path.name for path in place.iterdir()) == ["run-1", "run-2"]


def test_an_archive_of_several_gets_its_own_name(tmp_path):
    file = packed(tmp_path / "0a1b", "run-1/a.csv", "run-2/a.csv")
    assert log_place(ModelFile(file, "my <b>runs.logs.tar.gz"), tmp_path).name == "my _b_runs"


@pytest.mark.parametrize("name", ["..", ".logs.zip", "/.zip", "...tar"])
def test_a_name_leads_nowhere_else(tmp_path, name):
    file = packed(tmp_path / "0a1b", "a.csv", "b.csv")
    place = log_place(ModelFile(file, name), tmp_path)
    assert place.parent == tmp_path / "logs"
    assert {path.name for path in place.iterdir()} == {"a.csv", "b.csv"}


def test_one_stored_file_gets_its_suffix_back(tmp_path):
    (tmp_path / "0a1b").write_text("epoch,loss\n0,1\n")
    place = log_place(ModelFile(tmp_path / "0a1b", "history.csv"), tmp_path)
    assert place.name == "history.csv"
    assert place.read_text() == "epoch,loss\n0,1\n"
