"""`stethoscope versions` as people and pipelines use it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from stethoscope.cli.app import app
from stethoscope.cli.versions import lines
from stethoscope.codec import decode
from stethoscope.logs.data_fingerprint import ArrayFingerprint
from stethoscope.tasks.read_versions import DataVersions, NamedFingerprint
from tests.logs.test_dvc import repository


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("STETHOSCOPE_WORKSPACE", str(tmp_path / "workspace"))
    return lambda *words: CliRunner().invoke(app, ["versions", *map(str, words)])


def test_a_fingerprint_and_a_gate(run, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(3, 2))
    (tmp_path / "x.csv").write_text("a,b\n0,1\n2,3\n4,5\n")
    done = run(tmp_path / "x.npy", "--before", tmp_path / "x.csv", "--fail-on-change")
    assert done.exit_code == 0, done.output
    assert "Nothing changed." in done.output
    (tmp_path / "x.csv").write_text("a,b\n0,1\n")
    done = run(tmp_path / "x.npy", "--before", tmp_path / "x.csv", "--fail-on-change")
    assert done.exit_code == 1
    assert "1 → 3 rows" in done.output


def test_a_repository_as_json(run, tmp_path):
    done = run(repository(tmp_path / "repo"), "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert value["schema_version"] == 1
    assert value["states"][0]["data"][0]["path"] == "data/raw"
    said = lines(decode(DataVersions, value))
    assert any(line.startswith("  stage train: ") and "up to date" in line for line in said)


def test_changes_as_json_say_from_which_state_to_which(run, tmp_path):
    before, after = repository(tmp_path / "one"), repository(tmp_path / "two", digest="f" * 32)
    done = run(after, "--before", before, "--json")
    assert done.exit_code == 0, done.output
    change = next(change for change in json.loads(done.stdout)["changes"] if change["kind"] == "data")
    assert (change["from"], change["to"], change["what"]) == (0, 1, "data/raw")
    assert (change["before"]["hash"], change["after"]["hash"]) == ("a" * 32 + ".dir", "f" * 32 + ".dir")


def test_nothing_there_says_so(run, tmp_path):
    done = run(tmp_path / "none")
    assert done.exit_code == 2
    assert "Check the path" in done.output


def test_names_cannot_command_a_terminal():
    part = ArrayFingerprint("x", "0" * 64, (3,), "float64")
    (line,) = lines(DataVersions((), fingerprints=(NamedFingerprint("0" * 64, (part,), "\x1b[31mred\n"),)))
    assert line.endswith("?[31mred?")
