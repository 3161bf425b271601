"""Versions of data as a page asks for them: repositories, copies of one side by side, and plain files."""

from __future__ import annotations

import json
import math
import tarfile

import numpy as np
import pytest

from stethoscope.codec import decode, plain
from stethoscope.errors import BadInput, UnreadableFile
from stethoscope.task import TaskContext
from stethoscope.tasks.read_versions import TASK, DataVersions
from stethoscope.types import Budget, ModelFile
from tests.logs.test_dvc import repository


def read(tmp_path, after, before=None, name=""):
    folder = tmp_path / "job"
    folder.mkdir()
    files = {"after": ModelFile(after, name or after.name)}
    if before is not None:
        files["before"] = ModelFile.at(before)
    context = TaskContext(
        files=files,
        params={},
        folder=folder,
        budget=Budget(1 << 30, 10),
        report=lambda *_, **__: None,
        memory=None,
        open_model=None,
    )
    return decode(DataVersions, json.loads(json.dumps(plain(TASK.run(context)), allow_nan=False)))


def test_a_repository_says_which_data_each_stage_rests_on(tmp_path):
    value = read(tmp_path, repository(tmp_path / "repo"))
    (state,) = value.states
    assert [(data.path, data.hash) for data in state.data] == [("data/raw", "a" * 32 + ".dir")]
    train = next(stage for stage in state.stages if stage.name == "train")
    assert train.sources == ("data/raw aaaaaaaa",)
    assert len(state.version) == 8
    assert state.metrics["reports/metrics.json:accuracy"] == 0.9
    assert math.isnan(state.metrics["reports/metrics.json:by.a"])
    assert value.changes == ()


def test_what_changed_between_two_states(tmp_path):
    before = repository(tmp_path / "one" / "repo")
    after = repository(tmp_path / "two" / "repo", accuracy=0.95, digest="f" * 32, lr="1e-2")
    value = read(tmp_path, after, before)
    assert value.states[0].version != value.states[1].version
    said = [change.text for change in value.changes]
    assert any(text.startswith("Data data/raw: aaaaaaaa") and "→ ffffffff" in text for text in said)
    assert "Parameter params.yaml:train.lr: 0.001 → 0.01." in said
    assert "Metric reports/metrics.json:accuracy: 0.9 → 0.95 (+0.05)." in said
    assert {change.to for change in value.changes} == {1}


def test_two_lock_files_are_enough(tmp_path):
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two", digest="f" * 32)
    value = read(tmp_path, two / "dvc.lock", one / "dvc.lock")
    assert [change.what for change in value.changes if change.kind == "data"] == ["data/raw"]


def test_copies_side_by_side_in_an_archive_are_states_by_name(tmp_path):
    for place, digest in enumerate("aaf"):
        repository(tmp_path / "all" / f"v{place}", accuracy=0.9 + place / 100, digest=digest * 32)
    archive = tmp_path / "all.tar"
    with tarfile.open(archive, "w") as out:
        out.add(tmp_path / "all", "all")
    value = read(tmp_path, archive, name="all.logs.tar")
    versions = [state.version for state in value.states]
    assert versions[0] == versions[1] != versions[2]
    assert [state.name.rpartition(" ")[2] for state in value.states] == ["v0", "v1", "v2"]
    assert [change.to for change in value.changes if change.kind == "data"] == [2]


def test_data_without_versions_gets_a_fingerprint(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(3, 2))
    (tmp_path / "x.csv").write_text("0,1\n2,3\n4,5\n6,7\n")
    value = read(tmp_path, tmp_path / "x.csv", tmp_path / "x.npy")
    assert [len(data.sha256) for data in value.fingerprints] == [64, 64]
    assert value.changes == ("x.csv: 3 → 4 rows (+1).",)


def test_the_same_values_in_another_format_are_the_same_data(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(3, 2))
    np.savez(tmp_path / "x.npz", x=np.arange(6.0, dtype=np.float32).reshape(3, 2))
    stored = (tmp_path / "x.npz").rename(tmp_path / "stored-by-hash")
    value = read(tmp_path, stored, tmp_path / "x.npy", name="../x.npz")
    assert value.fingerprints[0].sha256 == value.fingerprints[1].sha256
    assert value.changes == ()


def test_a_repository_and_data_are_not_compared(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(BadInput, match="repository"):
        read(tmp_path, repository(tmp_path / "repo"), tmp_path / "x.npy")


def test_an_empty_folder_says_what_is_missing(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableFile):
        read(tmp_path, tmp_path / "empty")
