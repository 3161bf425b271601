"""Train here, predict there, as a command: what it asks for, prints and exits with; the trial itself is recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stethoscope.cli import run as cli_run
from stethoscope.cli.app import app
from stethoscope.types import JobResult, Status
from tests import answers


@pytest.fixture
def run(monkeypatch):
    asked = []

    def command(*words, **changes):
        def model_job(kind, model, data, params, limits):
            asked.append((kind, params))
            return JobResult(Status.OK, answers.answer("placement", **changes), "", "placement", 0, 1.0), Path()

        monkeypatch.setattr(cli_run, "model_job", model_job)
        return CliRunner().invoke(app, ["placement", "model.keras", *words]), asked

    return command


def test_the_clash_and_every_remedy_with_its_code(run):
    done, asked = run("--xla", "as-saved", "--fit", "batch_size=8")
    report = answers.answer("placement")
    assert (
        asked[0][0] == "placement" and asked[0][1]["with_xla"] == "as saved" and asked[0][1]["fit"]["batch_size"] == 8
    )
    for attempt in report["attempts"]:
        assert attempt["title"] in done.stdout
    assert "model.predict" in done.stdout and "defined @" not in done.stdout


def test_exit_codes_and_json(run):
    clash = answers.answer("placement")["clash"]
    assert clash["happened"]
    as_saved, _ = run(clash={**clash, "assumed": False})
    supposed, _ = run(clash={**clash, "assumed": True})
    assert (as_saved.exit_code, supposed.exit_code) == (1, 0)
    value = json.loads(run("--json", clash={**clash, "assumed": True})[0].stdout)
    assert value["status"] == "ok" and value["clash"]["happened"] and value["attempts"]
    assert run("--xla", "often")[0].exit_code == 2
