"""Scripts written before anyone looked at what the rules find, with faults and sound ones. `unmet/` holds their text, a folder for each later set.

A line that may be named ends in `#! ` and the kind of its fault. A fault may have several such lines; the marks are taken off before reading.
A text that begins with `# %%` is a notebook: each such line begins a cell.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "unmet"
_MARK = re.compile(r"\s*#! (.*)$")
_CELL = re.compile(r"^# %%(.*)\n", re.MULTILINE)


@dataclass(frozen=True)
class Script:
    """One script, and the places of each fault in it: a line, or in a notebook `cell 3:4`."""

    name: str
    file: str
    content: bytes
    faults: dict[str, frozenset[str]]


def scripts(folder: str = "") -> tuple[Script, ...]:
    """All of one set, by name."""
    return tuple(_read(path) for path in sorted((_FOLDER / folder).glob("*.txt")))


def sets() -> tuple[str, ...]:
    """The later sets, by name."""
    return tuple(sorted(path.name for path in _FOLDER.iterdir() if path.is_dir()))


def _read(path: Path) -> Script:
    text = path.read_text("utf-8")
    if not text.startswith("# %%"):
        return Script(path.stem, "train.py", _unmarked(text).encode(), _faults(text, ""))
    parts = _CELL.split(text)[1:]
    kinds = ["markdown" if "markdown" in head else "code" for head in parts[::2]]
    faults: dict[str, frozenset[str]] = {}
    for number, cell in enumerate(parts[1::2], 1):
        for kind, places in _faults(cell, f"cell {number}:").items():
            faults[kind] = faults.get(kind, frozenset()) | places
    cells = [
        {"cell_type": kind, "metadata": {}, "source": _unmarked(cell)}
        for kind, cell in zip(kinds, parts[1::2], strict=True)
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return Script(path.stem, "train.ipynb", json.dumps(notebook).encode(), faults)


def _unmarked(text: str) -> str:
    return "\n".join(_MARK.sub("", row) for row in text.split("\n"))


def _faults(text: str, before: str) -> dict[str, frozenset[str]]:
    faults: dict[str, frozenset[str]] = {}
    for number, row in enumerate(text.split("\n"), 1):
        mark = _MARK.search(row)
        if mark is not None:
            faults[mark[1]] = faults.get(mark[1], frozenset()) | {f"{before}{number}"}
    return faults
