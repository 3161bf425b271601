"""`stethoscope explain`: a file or standard input, words or JSON; what is no message is told where to go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stethoscope.cli.app import app

SPECIMENS = Path(__file__).parents[1] / "pasted" / "messages" / "specimens"
SPECIMEN = SPECIMENS / "input-axis.txt"


def run(*words: object, given: str | bytes | None = None):
    return CliRunner().invoke(app, ["explain", *map(str, words)], input=given)


def test_a_file_is_explained_in_words():
    done = run(SPECIMEN)
    assert done.exit_code == 0
    assert "certain" in done.stdout and "stethoscope check" in done.stdout and "https://" in done.stdout


@pytest.mark.parametrize("words", [["-"], []])
def test_standard_input_is_explained(words):
    done = run(*words, "--json", given=SPECIMEN.read_text("utf-8"))
    assert done.exit_code == 0 and json.loads(done.stdout)["kind"] == "input-axis"


def test_json_has_the_keys_of_the_answer():
    value = json.loads(run(SPECIMEN, "--json").stdout)
    keys = {"kind", "certainty", "telling_line", "where", "cause", "read", "steps", "product", "sources", "others"}
    assert keys < set(value) and value["status"] == "ok" and value["schema_version"] == 1
    assert set(value["product"]) == {"command", "page"} and set(value["where"]) == {"file", "line", "function", "code"}
    assert value["steps"][0]["code"] and value["findings"][0]["check_id"] == "input-axis"


def test_what_is_not_known_is_an_answer_too():
    value = json.loads(run("--json", given="ValueError: the moon is not in its place").stdout)
    assert value["kind"] is None and value["certainty"] == "unknown" and value["findings"] == []


def test_a_file_of_powershell_is_read(tmp_path):
    path = tmp_path / "error.txt"
    path.write_bytes(SPECIMEN.read_text("utf-8").encode("utf-16"))
    assert json.loads(run(path, "--json").stdout)["kind"] == "input-axis"


@pytest.mark.parametrize(
    "name, content, command",
    [
        ("train.py", b"import tensorflow as tf\n", "stethoscope check train.py"),
        ("train.ipynb", b'{"cells": [], "nbformat": 4}', "stethoscope check train.ipynb"),
        ("model.keras", b"PK\x03\x04", "stethoscope describe model.keras"),
        ("model.bin", b"\x89HDF\r\n\x1a\n", "stethoscope describe model.bin"),
    ],
)
def test_a_program_or_a_model_is_told_its_command(tmp_path, name, content, command):
    path = tmp_path / name
    path.write_bytes(content)
    done = run(path)
    assert done.exit_code == 2 and command in done.stderr and not done.stdout


@pytest.mark.parametrize("given", ["", " \n"])
def test_nothing_is_no_message(given):
    done = run(given=given)
    assert done.exit_code == 2 and not done.stdout and done.stderr


def test_a_file_that_is_not_there_is_said(tmp_path):
    done = run(tmp_path / "gone.txt")
    assert done.exit_code == 2 and "gone.txt" in done.stderr
