"""Patches of a script: a few characters replaced, everything else as it was, as edits and as a unified diff."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator, Sequence

from stethoscope.checks.fixes.script_patch import Edit, ScriptPatch
from stethoscope.errors import StethoscopeError
from stethoscope.pasted.scripts.parsing import parse
from stethoscope.pasted.scripts.source import Part, Source

Placed = ast.expr | ast.stmt | ast.alias | ast.keyword
"""Nodes that have a place in the text."""


class Spans:
    """Where the nodes of a syntax tree stand in the text of their source."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._rows = source.text.split("\n")
        self._starts = {part.number: list(_starts(part.text)) for part in source.parts}

    def text(self, node: Placed) -> str:
        """What a node is written as."""
        edit = self.replace(node, "")
        part = next(part for part in self._source.parts if part.number == edit.part)
        return part.text[edit.start : edit.end]

    def replace(self, node: Placed, text: str) -> Edit:
        """Writes `text` in a node's place."""
        start = self._at(node.lineno, node.col_offset)
        end = self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return Edit(start[0], start[1], end[1], text)

    def rename_last(self, node: Placed, text: str) -> Edit:
        """Another last name for `a.b.last`, or for the name itself."""
        if isinstance(node, ast.Attribute):
            edit = self.replace(node, text)
            return Edit(edit.part, edit.end - len(node.attr), edit.end, text)
        return self.replace(node, text)

    def rename_keyword(self, keyword: ast.keyword, name: str) -> Edit:
        """Another name for a keyword argument."""
        part, start = self._at(keyword.lineno, keyword.col_offset)
        return Edit(part, start, start + len(keyword.arg or ""), name)

    def remove_argument(self, call: ast.Call, argument: ast.keyword | ast.expr) -> Edit:
        """Takes an argument out, with the comma that belongs to it."""
        rest: list[Placed] = sorted([*call.args, *call.keywords], key=_begin)
        place = rest.index(argument)
        own = self.replace(argument, "")
        if place + 1 < len(rest):
            following = self.replace(rest[place + 1], "")
            return Edit(own.part, own.start, following.start, "")
        start = self.replace(rest[place - 1], "").end if place else own.start
        return Edit(own.part, start, own.end, "")

    def add_argument(self, call: ast.Call, text: str) -> Edit:
        """One more argument at the end of a call."""
        whole = self.replace(call, "")
        rest: list[Placed] = sorted([*call.args, *call.keywords], key=_begin)
        if not rest:
            return Edit(whole.part, whole.end - 1, whole.end - 1, text)
        end = self.replace(rest[-1], "").end
        return Edit(whole.part, end, end, f", {text}")

    def row(self, line: int, text: str) -> Edit:
        """Another text for a whole line."""
        part, start = self._at(line, 0)
        return Edit(part, start, start + len(self._rows[line - 1]), text)

    def without_rows(self, first: int, last: int) -> Edit:
        """Takes whole lines out."""
        part, start = self._at(first, 0)
        end = self._at(last, 0)[1] + len(self._rows[last - 1])
        whole = next(one for one in self._source.parts if one.number == part)
        return Edit(part, start, min(end + 1, len(whole.text)), "")

    def above(self, line: int, text: str) -> Edit:
        """One more line above another, indented as that is."""
        row = self._rows[line - 1]
        indent = row[: len(row) - len(row.lstrip())]
        part, start = self._at(line, 0)
        return Edit(part, start, start, f"{indent}{text}\n")

    def _at(self, line: int, column: int) -> tuple[int, int]:
        """A part, and the character in it, of a line and a byte within it, as Python counts."""
        part, within = self._source.place(line)
        row = self._rows[line - 1]
        characters = len(row.encode("utf-8")[:column].decode("utf-8", "ignore"))
        return part.number, self._starts[part.number][within - 1] + characters


def _starts(text: str) -> Iterator[int]:
    """Where each row of a text begins, in characters."""
    place = 0
    for row in text.split("\n"):
        yield place
        place += len(row) + 1


def patch(source: Source, summary: str, edits: Sequence[Edit]) -> ScriptPatch | None:
    """The patch that these edits make; None where the script could not be read with it, or nothing would change."""
    changed, left_out = patched(source, [edits])
    if left_out or changed == source:
        return None
    try:
        parse(changed)
    except StethoscopeError:
        return None
    return ScriptPatch(summary, diff(source, changed), tuple(edits))


def patched(source: Source, groups: Iterable[Sequence[Edit]]) -> tuple[Source, int]:
    """A source with groups of edits made, and how many groups were left out: those that touch what another one changed."""
    taken: list[Edit] = []
    left_out = 0
    for group in groups:
        fresh = [edit for edit in group if edit not in taken]
        if any(_meet(edit, other) for edit in fresh for other in taken):
            left_out += 1
        else:
            taken.extend(fresh)
    parts = []
    first = 1
    for part in source.parts:
        text = part.text
        for edit in sorted((one for one in taken if one.part == part.number), key=lambda one: -one.start):
            text = text[: edit.start] + edit.text + text[edit.end :]
        parts.append(Part(part.number, text, first))
        first += text.count("\n") + 1
    return Source(source.name, tuple(parts), source.notebook), left_out


def _meet(one: Edit, other: Edit) -> bool:
    if one.part != other.part:
        return False
    return (one.start < other.end and other.start < one.end) or one.start == other.start


def diff(before: Source, after: Source) -> str:
    """A unified diff; of a notebook, one for each cell that changes."""
    pieces = []
    for one, other in zip(before.parts, after.parts, strict=True):
        name = f"{before.name} (cell {one.number})" if before.notebook else before.name
        # Kept on one line: a name is hostile text.
        name = " ".join(name.split())
        for row in difflib.unified_diff(_rows(one.text), _rows(other.text), f"a/{name}", f"b/{name}", n=2):
            pieces.append(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n")
    return "".join(pieces)


def _begin(node: Placed) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _rows(text: str) -> list[str]:
    rows = [f"{row}\n" for row in text.split("\n")]
    last = rows.pop()
    return rows if last == "\n" else [*rows, last[:-1]]
