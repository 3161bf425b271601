"""A script as it came: its text, its cells, and what to call a place in it. Nothing here runs or imports anything of it."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stethoscope.errors import TooLarge, UnreadableFile

MOST_BYTES = 2 << 20
"""Of a script. Notebooks hold pictures too: `MOST_NOTEBOOK_BYTES`."""
MOST_NOTEBOOK_BYTES = 64 << 20
MOST_LINES = 40_000
MOST_CELLS = 5_000
_LONGEST_LINE = 200_000


@dataclass(frozen=True)
class Part:
    """What an edit of the file is made in: the whole script, or one cell of a notebook."""

    number: int
    """0 for a script; the cell's place among all cells of a notebook, from 1."""
    text: str
    first_line: int
    """In the text of the whole, from 1."""


@dataclass(frozen=True)
class Source:
    """A script, a notebook or pasted text. `text` is all code, one cell below the other."""

    name: str
    """The user's name for it. Hostile text: escape before showing."""
    parts: tuple[Part, ...]
    notebook: bool = False

    @property
    def text(self) -> str:
        """All code."""
        return "\n".join(part.text for part in self.parts)

    def place(self, line: int) -> tuple[Part, int]:
        """The part that holds a line of the whole text, and the line within it, from 1."""
        index = max(0, bisect.bisect_right([part.first_line for part in self.parts], line) - 1)
        return self.parts[index], line - self.parts[index].first_line + 1

    def where(self, line: int) -> str:
        """How to name a line: "train.py:12", "train.ipynb:cell 3:4"."""
        part, within = self.place(line)
        return f"{self.name}:cell {part.number}:{within}" if self.notebook else f"{self.name}:{within}"

    def code_at(self, line: int) -> str:
        """One line of the whole text, without its margins."""
        part, within = self.place(line)
        rows = part.text.split("\n")
        return rows[within - 1].strip() if within <= len(rows) else ""


def looks_like_script(head: bytes, name: str) -> bool:
    """Whether a file that begins like this is a script or a notebook, as far as a glance can tell."""
    suffix = name.lower().rpartition(".")[2]
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if b"\x00" in head:
        return False
    if suffix == "ipynb" or start.startswith(b"{"):
        return start.startswith(b"{") and (suffix == "ipynb" or (b'"nbformat"' in head or b'"cell_type"' in head))
    if suffix in ("py", "pyw"):
        return True
    if suffix in ("txt", "") or name in ("-", "pasted text"):
        return _CODE.search(start) is not None
    return False


_CODE = re.compile(rb"^(?:import [a-zA-Z_]|from [a-zA-Z_.]+ import )", re.MULTILINE)


def read(content: bytes, name: str) -> Source:
    """Takes a file apart.

    Raises:
        TooLarge: more than a script has.
        UnreadableFile: no text, or a notebook that is none.
    """
    notebook = name.lower().endswith(".ipynb") or (
        content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and b'"cells"' in content
    )
    most = MOST_NOTEBOOK_BYTES if notebook else MOST_BYTES
    if len(content) > most:
        raise TooLarge(f"{name}: expected a script of at most {most >> 20} MiB, got {len(content) >> 20} MiB.")
    text = decoded(content, name)
    parts = tuple(_cells(text, name)) if notebook else (Part(0, text, 1),)
    if sum(part.text.count("\n") + 1 for part in parts) > MOST_LINES:
        raise TooLarge(f"{name}: expected a script of at most {MOST_LINES:,} lines.")
    if any(len(line) > _LONGEST_LINE for part in parts for line in part.text.split("\n")):
        raise TooLarge(f"{name}: expected lines of at most {_LONGEST_LINE:,} characters.")
    return Source(name, parts, notebook)


def decoded(content: bytes, name: str) -> str:
    """The text of a file, its line ends as they are in Python: one character each."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    else:
        declared = re.match(rb"(?:[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)", content[:400])
        encoding = declared.group(1).decode("ascii", "replace") if declared else "utf-8"
        if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
            encoding = "utf-8-sig"
    try:
        text = content.decode(encoding)
    except (UnicodeDecodeError, LookupError, ValueError):
        try:
            text = content.decode("latin-1") if b"\x00" not in content else ""
        except UnicodeDecodeError:  # pragma: no cover - latin-1 takes any byte
            text = ""
    if "\x00" in text or (not text and content):
        raise UnreadableFile(f"{name}: expected a training script as text, got bytes that are none.")
    # A form feed or a vertical tab ends no line for Python, and `splitlines` is not used anywhere here.
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _cells(text: str, name: str) -> Iterator[Part]:
    try:
        book = json.loads(text)
    except RecursionError as error:
        raise UnreadableFile(f"{name}: expected a notebook, got JSON nested too deeply.") from error
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        raise UnreadableFile(f"{name}, line {line}: expected a notebook, got damaged JSON ({error}).") from error
    cells = _list_of_cells(book)
    if cells is None:
        raise UnreadableFile(f"{name}: expected a notebook with cells, got other JSON.")
    if len(cells) > MOST_CELLS:
        raise TooLarge(f"{name}: expected at most {MOST_CELLS:,} cells, got {len(cells):,}.")
    line = 1
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, Mapping) or cell.get("cell_type") != "code":
            continue
        code = cell_text(cell)
        yield Part(number, code, line)
        line += code.count("\n") + 1
    if line == 1:
        yield Part(1, "", 1)


def _list_of_cells(book: Any) -> list[Any] | None:
    if not isinstance(book, Mapping):
        return None
    if isinstance(book.get("cells"), list):
        return list(book["cells"])
    sheets = book.get("worksheets")
    if isinstance(sheets, list) and sheets and isinstance(sheets[0], Mapping):  # notebooks of version 3
        found = sheets[0].get("cells")
        return list(found) if isinstance(found, list) else None
    return None


def cell_text(cell: Mapping[str, Any]) -> str:
    """The code of one cell."""
    found = cell.get("source", cell.get("input", ""))
    if isinstance(found, list):
        found = "".join(piece for piece in found if isinstance(piece, str))
    return found.replace("\r\n", "\n").replace("\r", "\n") if isinstance(found, str) else ""
