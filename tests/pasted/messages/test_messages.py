"""Every kind on a real text: raised here by the installed frameworks, or quoted from a public thread."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stethoscope.pasted.messages import all_messages
from stethoscope.pasted.messages.message import Role
from stethoscope.pasted.reading.explaining import explain
from tests.conftest import PROJECT

HERE = Path(__file__).parent
TEXTS = sorted([*(HERE / "specimens").glob("*.txt"), *(HERE / "quoted").glob("*.txt")])


def kind_of(path: Path) -> str:
    """The kind that a text is named after; `kind--variant.txt` is a further wording of it."""
    return path.stem.split("--")[0]


def wrong(texts: dict[str, str]) -> dict[str, str | None]:
    """Texts that are answered by another kind than theirs."""
    amiss = {}
    for name, text in texts.items():
        kind, answer = name.split("--")[0], explain(text)
        if all_messages()[kind].role is Role.NOTICE:
            if answer.kind is not None or kind not in {notice.kind for notice in answer.notices}:
                amiss[name] = answer.kind
        elif answer.kind != kind:
            amiss[name] = answer.kind
    return amiss


def test_every_text_is_answered_by_its_kind():
    assert not wrong({path.stem: path.read_text("utf-8") for path in TEXTS})


def test_every_raised_text_names_the_line_of_the_program_that_raised_it():
    for path in (HERE / "specimens").glob("*.txt"):
        text = path.read_text("utf-8")
        answer = explain(text)
        if answer.exception and "/home/ada/project/raise_" in text:
            assert answer.where is not None and "/raise_" in answer.where.file, path.name


def test_what_was_read_is_in_the_cause():
    for name, words in {
        "input-axis": ("dense", "4"),
        "unknown-class": ("Attention2",),
        "label-range": ("10", "9"),
        "check-numerics": ("NaN",),
        "host-allocation": ("TiB",),
        "onnx-dimensions": ("x",),
    }.items():
        cause = explain((HERE / "specimens" / f"{name}.txt").read_text("utf-8")).cause
        assert all(word in cause for word in words), (name, cause)


@pytest.mark.sweep
def test_the_installed_frameworks_still_raise_them(tmp_path):
    """In a process of its own: pytest would keep the warnings."""
    command = [sys.executable, "-m", "tests.pasted.messages.raising", "--into", str(tmp_path)]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, timeout=590)
    raised = {path.stem: path.read_text("utf-8") for path in tmp_path.glob("*.txt")}
    assert len(raised) > 100 and not wrong(raised)
