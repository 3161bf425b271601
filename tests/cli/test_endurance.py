"""`stethoscope endurance` answers in words and in JSON, and ends with a code that says what it found."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from stethoscope.cli import run as cli_run
from stethoscope.cli.endurance import endurance
from stethoscope.types import Status
from tests.small_models import hungry_onnx, tiny_onnx

app = typer.Typer()
app.command()(endurance)


@pytest.fixture
def shared_engine(engine, monkeypatch):
    """The commands use the run's engine: no server of their own to start."""
    import contextlib

    monkeypatch.setattr(cli_run, "short_engine", lambda *_: contextlib.nullcontext(engine))


def invoke(*words: object) -> object:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_json_has_one_entry_for_each_call_style(shared_engine, tmp_path):
    path = tiny_onnx(tmp_path / "tiny.onnx")
    result = invoke(path, "--calls", 20, "--json")
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    assert value["schema_version"]
    assert value["status"] == Status.OK
    (one,) = value["calls"]
    assert one["call"] == "function"
    assert one["leak"]["verdict"] == "steady"
    assert one["latency"]["warm"]["median_s"] > 0


def test_people_read_verdicts(shared_engine, tmp_path):
    result = invoke(tiny_onnx(tmp_path / "tiny.onnx"), "--calls", 20)
    assert result.exit_code == 0, result.output
    assert "leak: steady" in result.stdout
    assert "first call" in result.stdout


def test_advice_is_ranked_and_printed(shared_engine, tmp_path):
    path = hungry_onnx(tmp_path / "hungry.onnx", 8)
    words = (path, "--advise", "--batch-size", 8, "--changes", "batch,precision")
    result = invoke(*words, "--json")
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    assert value["best"] == "batch-2"
    assert [item["kind"] for item in value["untried"]] == ["precision"]
    printed = invoke(*words)
    assert "of 2 instead of 8" in printed.stdout
    assert "precision: not tried" in printed.stdout


@pytest.mark.parametrize(
    "words", [("--call", "sideways"), ("--advise", "--changes", "luck"), ("--call", ""), ("--tests", "leaks")]
)
def test_what_makes_no_sense_ends_with_two(shared_engine, tmp_path, words):
    result = invoke(tiny_onnx(tmp_path / "tiny.onnx"), *words)
    assert result.exit_code == 2
    assert result.stderr.strip()
