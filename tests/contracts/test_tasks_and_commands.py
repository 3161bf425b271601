"""Every kind of job says what it is; every command of the contract exists; README commands run as written."""

from __future__ import annotations

import dataclasses
import functools
import re
import typing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stethoscope.cli.app import app
from stethoscope.codec import decode, plain
from stethoscope.task import InNewProcess
from stethoscope.tasks import all_tasks
from tests import answers
from tests.sources import nearest_tests

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("serve", "describe", "check", "predict", "sweep", "plan", "consistency", "curves", "explain", "doctor")
ROOMS = ("stethoscope", "dashboard", "pages", "sample_models", "benchmarks", "tests", "docs")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_a_task_is_documented():
    silent = [kind for kind, task in all_tasks().items() if not type(task).__doc__ or not type(task).run.__doc__]
    assert not silent
    assert all(task.kind == kind for kind, task in all_tasks().items())


def test_a_task_answers_with_a_type_that_json_keeps():
    for kind, task in all_tasks().items():
        answer = task.answer
        assert dataclasses.is_dataclass(answer) and answer.__dataclass_params__.frozen, kind
        returned = typing.get_type_hints(type(task).run)["return"]
        assert answer.__doc__ and set(typing.get_args(returned) or (returned,)) - {InNewProcess} == {answer}, kind


@pytest.mark.parametrize("name", list(answers.RECIPES))
def test_a_recorded_answer_is_read_and_written_as_it_was(name):
    kept = answers.recorded(name)
    if kept["status"] == "ok":
        assert plain(decode(all_tasks()[answers.RECIPES[name].kind].answer, kept["value"])) == kept["value"]


@functools.cache
def help_of(command: str) -> str:
    result = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == 0, command
    return result.output


def test_a_command_explains_itself():
    for command in COMMANDS:
        assert len(help_of(command).splitlines()) > 5, command


def lines_of(document: Path) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", document.read_text(), re.DOTALL)
    return [line.split("#")[0].strip() for block in blocks for line in block.splitlines() if line.strip()]


def test_documents_name_only_make_targets_that_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for document in DOCUMENTS:
        for line in lines_of(document):
            if line.startswith("make "):
                assert line.split()[1] in targets, f"{document.name}: {line}"


def test_documents_name_only_options_that_exist():
    for document in DOCUMENTS:
        for line in lines_of(document):
            words = line.split()
            if words[0] == "stethoscope":
                known = help_of(words[1])
                for option in (word.split("=")[0] for word in words if word.startswith("--")):
                    assert option in known, f"{document.name}: {line}"


def test_readme_commands_run_as_written(commands, tmp_path, monkeypatch):
    (tmp_path / "sample_models").symlink_to(ROOT / "sample_models")  # what they write stays out of the checkout
    monkeypatch.chdir(tmp_path)
    lines = [line.split() for line in lines_of(ROOT / "README.md") if line.startswith("stethoscope ")]
    asked = [words[1:] for words in lines if words[1] != "serve"]
    assert len(asked) >= 8
    for words in asked:
        done = commands.run(*words)
        # 1 is an answer too: a finding, as the faulty trainings of the sample log have.
        assert done.returncode in ((0, 1) if words[0] in ("curves", "drift") else (0,)), (words, done.stderr)
        assert done.stdout.strip() and not done.stderr.strip(), (words, done.stderr)


def test_links_between_documents_lead_somewhere():
    for document in DOCUMENTS:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name} → {target}"


def test_what_contributing_names_is_there():
    held = [
        f"/{path.relative_to(ROOT).as_posix()}" for room in ROOMS for path in ((ROOT / room), *(ROOT / room).rglob("*"))
    ]
    named = re.findall(r"`([\w/.]+(?:\.py|\.md|/))`", CONTRIBUTING)
    assert len(named) > 40
    for name in named:
        assert any(path.endswith(f"/{name.rstrip('/')}") for path in held) or "yours" in name, name


def test_what_holds_a_new_file_is_near_it():
    """`make quick` after adding one runs the tests that CONTRIBUTING names."""
    rows = re.findall(
        r"^\| an? [^|]+\| `([\w/]+)(?:/|\.py)` \|.*`(?:[\w/]+/)?(test_\w+\.py)` \|$", CONTRIBUTING, re.MULTILINE
    )
    assert len(rows) == 12
    for place, test in rows:
        added = min((ROOT / place).glob("[a-z]*.py")) if (ROOT / place).is_dir() else ROOT / f"{place}.py"
        assert test in {near.name for near in nearest_tests([added])}, place
