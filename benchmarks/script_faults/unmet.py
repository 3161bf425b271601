"""Scripts written before anyone looked at what the rules find: 40 with faults, 20 sound ones. `unmet/` holds their text.

A line that may be named ends in `#! ` and the kind of its fault. A fault may have several such lines; the marks are taken off before reading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "unmet"
_MARK = re.compile(r"\s*#! (.*)$")


@dataclass(frozen=True)
class Script:
    """One script, and the lines of each fault in it."""

    name: str
    text: str
    faults: dict[str, frozenset[int]]


def scripts() -> tuple[Script, ...]:
    """All of them, by name."""
    return tuple(_read(path) for path in sorted(_FOLDER.glob("*.txt")))


def _read(path: Path) -> Script:
    rows = path.read_text("utf-8").split("\n")
    faults: dict[str, set[int]] = {}
    for number, row in enumerate(rows, 1):
        mark = _MARK.search(row)
        if mark is not None:
            faults.setdefault(mark[1], set()).add(number)
    text = "\n".join(_MARK.sub("", row) for row in rows)
    return Script(path.stem, text, {kind: frozenset(lines) for kind, lines in faults.items()})
