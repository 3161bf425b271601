"""`stethoscope versions` as people and pipelines use it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from stethoscope.cli import app
from stethoscope.cli_versions import lines
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
    said = lines(value)
    assert any(line.startswith("  stage train: up to date") for line in said)


def test_nothing_there_says_so(run, tmp_path):
    done = run(tmp_path / "none")
    assert done.exit_code == 2
    assert "Check the path" in done.output


def test_names_cannot_command_a_terminal():
    (line,) = lines({"fingerprints": [{"sha256": "0" * 64, "name": "\x1b[31mred\n", "parts": [{}]}]})
    assert line.endswith("?[31mred?")
