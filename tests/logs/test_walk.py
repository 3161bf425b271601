"""Files of a folder of logs, walked once."""

from __future__ import annotations

import tarfile
import zipfile

import numpy as np
import pytest

from stethoscope.errors import TooLarge
from stethoscope.logs import walk
from stethoscope.logs.data_fingerprint import fingerprint_of
from stethoscope.logs.walk import files_in, listing, log_place, walked_once
from stethoscope.models.containers import damage
from stethoscope.tasks.read_runs import gather
from stethoscope.types import ModelFile
from tests.logs.made_mlflow import write_store


def names(place):
    return [path.relative_to(place).as_posix() for path in files_in(place)]


def test_own_files_come_before_those_of_subfolders_and_links_are_not_followed(tmp_path):
    for name in ("b/2", "b/1", "a/x/y", "z", ".git/config", "b/node_modules/m.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "z")
    (tmp_path / "folder").symlink_to(tmp_path / "b")
    assert names(tmp_path) == ["z", "a/x/y", "b/1", "b/2"]
    with walked_once(tmp_path):
        assert names(tmp_path) == ["z", "a/x/y", "b/1", "b/2"]
        assert names(tmp_path / "b") == ["1", "2"]
    assert list(files_in(tmp_path / "z")) == [tmp_path / "z"]
    assert names(tmp_path / "nothing") == []


def test_all_trackers_share_one_walk(tmp_path, monkeypatch):
    write_store(tmp_path, 3, 2, 4)
    walks = []
    monkeypatch.setattr(walk, "_walked", lambda place, walked=walk._walked: walks.append(place) or walked(place))
    found, _ = gather(tmp_path)
    assert len(found.runs) == 3
    assert walks == [tmp_path]


def test_logs_among_very_many_files_are_found(tmp_path):
    for place in range(60):
        (tmp_path / f"checkpoint-{place}").mkdir()
        for name in range(100):
            (tmp_path / f"checkpoint-{place}" / str(name)).touch()
    (tmp_path / "z.csv").write_text("epoch,loss\n0,1\n1,0.5\n")
    (tmp_path / "zz").mkdir()
    (tmp_path / "zz" / "history.json").write_text('{"loss": [1, 0.5]}')
    found, _ = gather(tmp_path)
    assert [run.run for run in found.runs] == ["z.csv", "zz/history.json"]
    assert found.left_out == []


def test_more_files_than_are_looked_at_are_said(tmp_path, monkeypatch):
    monkeypatch.setattr(walk, "MAX_FILES", 2)
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text("epoch,loss\n0,1\n")
    assert not listing(tmp_path).complete
    found, _ = gather(tmp_path)
    assert len(found.runs) == 2
    assert "among the first" in found.left_out[0]
    with pytest.raises(TooLarge, match="expected at most"):
        fingerprint_of(tmp_path)


@pytest.fixture(scope="module")
def mlruns(tmp_path_factory):
    return write_store(tmp_path_factory.mktemp("store"), 20, 4, 10)


def packed(mlruns, path):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for one in sorted(mlruns.rglob("*")):
                archive.write(one, one.relative_to(mlruns.parent))
    else:
        with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as tar:
            tar.add(mlruns, "mlruns")
    return ModelFile.at(path)


@pytest.mark.parametrize("name", ["store.tar", "store.tar.gz", "store.zip"])
def test_a_packed_mlflow_store_of_many_files_is_read_as_the_folder_is(tmp_path, mlruns, monkeypatch, name):
    monkeypatch.setattr(damage, "MAX_MEMBERS", 50)
    file = packed(mlruns, tmp_path / name)
    (tmp_path / "job").mkdir()
    found, _ = gather(log_place(file, tmp_path / "job"))
    whole, _ = gather(mlruns)
    assert [run.parameters for run in found.runs] == [run.parameters for run in whole.runs]
    assert len(found.pieces) == len(whole.pieces) == 80
    for one, other in zip(found.pieces, whole.pieces, strict=True):
        np.testing.assert_array_equal(one.series.value, other.series.value)


@pytest.mark.parametrize("name", ["store.tar", "store.zip"])
def test_an_archive_of_more_files_than_logs_have_is_refused(tmp_path, mlruns, monkeypatch, name):
    monkeypatch.setattr(damage, "MAX_LOG_MEMBERS", 100)
    file = packed(mlruns, tmp_path / name)
    (tmp_path / "job").mkdir()
    with pytest.raises(TooLarge, match="more than 100 files"):
        log_place(file, tmp_path / "job")
