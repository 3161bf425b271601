"""Data studied, and its labels judged, by a command."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def rows(tmp_path):
    generator = np.random.default_rng(0)
    truth = np.arange(240) % 3
    x = generator.normal(size=(240, 4)) + 4 * np.eye(4)[truth]
    wrong = generator.choice(240, 6, replace=False)
    labels = truth.copy()
    labels[wrong] = (labels[wrong] + 1) % 3
    x[7] = x[6]
    np.savez(tmp_path / "rows.npz", x=x.astype(np.float32), y=labels)
    return tmp_path / "rows.npz", set(wrong.tolist())


def test_a_study_and_doubtful_labels_without_a_model(commands, rows):
    path, wrong = rows
    value = commands.answer("data", path)
    assert value["status"] == "ok" and value["study"]["rows"] == 240
    labels = value["labels"]
    assert labels["possible"] and labels["by"] == "cross-validation" and labels["accuracy"] > 0.9
    found = {one["place"] for one in labels["doubts"]}
    assert len(found & wrong) >= 4 and len(found - wrong) <= 2
    assert any(6 in remark["rows"] for remark in value["remarks"])


def test_for_people(commands, rows):
    path, _ = rows
    done = commands.run("data", path)
    assert done.returncode == 0 and "240 rows" in done.stdout and "doubtful labels" in done.stdout
    assert "doubtful" not in commands.run("data", path, "--no-doubts").stdout


def test_several_files_and_one_that_is_not_there(commands, rows, tmp_path):
    np.savez(tmp_path / "plain.npz", x=np.ones((20, 2)))
    value = commands.answer("data", rows[0], tmp_path / "plain.npz")
    assert [one["data"] for one in value["files"]] == ["rows.npz", "plain.npz"]
    assert not value["files"][1]["labels"]["possible"] and value["files"][1]["labels"]["why_not"]
    assert commands.run("data", tmp_path / "none.npz").returncode == 2
