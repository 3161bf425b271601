"""The house rules that a reader relies on: small rooms, one-sentence folders, no grab bags."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("stethoscope", "dashboard", "pages", "sample_models", "benchmarks")
MODULES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def test_rooms_are_small():
    lengths = sorted(len(path.read_text().splitlines()) for path in MODULES)
    assert lengths[len(lengths) // 2] <= 150
    assert lengths[-1] <= 340


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is_for(path):
    text = path.read_text()
    assert not text.strip() or ast.get_docstring(ast.parse(text))


def test_no_grab_bags():
    assert not [path for path in MODULES if path.stem in ("utils", "helpers", "common", "manager", "misc")]
