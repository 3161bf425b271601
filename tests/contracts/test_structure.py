"""The house rules that a reader relies on: small rooms, one-sentence folders, no grab bags."""

from __future__ import annotations

import ast
from pathlib import Path

from tools import rooms

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("stethoscope", "dashboard", "pages", "sample_models", "benchmarks")
MODULES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def test_rooms_are_small():
    lengths = sorted(len(path.read_text().splitlines()) for path in MODULES)
    assert lengths[len(lengths) // 2] <= 150
    assert lengths[-1] <= 340


def test_the_formatter_decides_line_breaks():
    assert not [
        path for path in MODULES if "fmt: skip" in path.read_text("utf-8") or "fmt: off" in path.read_text("utf-8")
    ]


def test_every_module_says_what_it_is_for():
    texts = {str(path.relative_to(ROOT)): path.read_text().strip() for path in MODULES}
    assert not [name for name, text in texts.items() if text and not _documented(text)]


def _documented(text):
    """A module that begins with a string has a docstring; only of another is the whole worth parsing."""
    return text.startswith('"""') or ast.get_docstring(ast.parse(text))


def test_no_grab_bags():
    assert not [path for path in MODULES if path.stem in ("utils", "helpers", "common", "manager", "misc")]


def test_the_picture_of_the_rooms_is_of_this_house():
    """`python -m tools.rooms` draws it again."""
    assert rooms.PICTURE.read_text("utf-8") == rooms.drawn()
    assert len(rooms.rooms()) <= 18
