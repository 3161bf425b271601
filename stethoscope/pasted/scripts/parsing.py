"""From text to a syntax tree within bounds: magics and shell lines set aside, Python 2 told, damage said with its line.

Python's own parser is used: it ends what is nested too deeply with an error, where others end the process.
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from dataclasses import dataclass, field, replace

from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.pasted.scripts.source import Part, Source

_DEEPEST = 200
_MOST_NODES = 400_000
_MOST_REPAIRS = 200
_MAGIC = re.compile(r"^(\s*)(?:[%!?].*|[\w.]+\?{1,2}\s*)$")
_ASSIGNED_MAGIC = re.compile(r"^(\s*[\w, ]+=\s*)[%!].*$")
_NOT_PYTHON = re.compile(
    r"^\s*%%(?:bash|sh|script|cmd|html|javascript|js|latex|markdown|perl|ruby|svg|writefile|file|R|sql|"
    r"bigquery|cython|cu|cpp|shell)\b"
)
_PYTHON2 = (
    (re.compile(r"^(\s*(?:.*:\s*)?)print(?!\s*\()\s+(?![=.,)])(?!>>)(.*?)(,?)\s*$"), "the statement print"),
    (re.compile(r"^(\s*(?:.*:\s*)?)print\s*$"), "the statement print"),
    (re.compile(r"^(\s*)except\s+([\w.]+|\([^)]*\))\s*,\s*(\w+)\s*:(.*)$"), "except with a comma"),
    (re.compile(r"^(\s*)raise\s+(\w[\w.]*)\s*,\s*(.+)$"), "raise with a comma"),
    (re.compile(r"^(\s*)exec\s+[^(=\s].*$"), "the statement exec"),
    (re.compile(r"^(\s*(?:.*:\s*)?)print\s*(\(.*\)\s*%.*)$"), "the statement print"),
)
_OCTAL = re.compile(r"(?<![\w.])0[0-7]+(?![\w.])")
_LONG = re.compile(r"(?<![\w.])(\d+)[lL]\b")


@dataclass(frozen=True)
class OldLine:
    """A line of Python 2, and how it is written today ("" where nobody can tell)."""

    line: int
    what: str
    now: str


@dataclass(frozen=True)
class Parsed:
    """A script that can be read."""

    source: Source
    tree: ast.Module
    python2: tuple[OldLine, ...] = ()
    left_out: tuple[str, ...] = ()
    """Cells that are no Python, and why, in words."""
    shell: tuple[tuple[int, str], ...] = ()
    """Lines for a shell or IPython: (line, text)."""


@dataclass
class _Reading:
    rows: list[str]
    shell: list[tuple[int, str]] = field(default_factory=list)
    python2: list[OldLine] = field(default_factory=list)


def parse(source: Source) -> Parsed:
    """Parses all code of a source.

    Raises:
        UnreadableFile: it is not Python; says the line, and whether it is Python 2 beyond repair.
        TooLarge: nested more deeply, or longer, than a script is.
    """
    if source.notebook:
        return _parse_cells(source)
    text = source.parts[0].text
    try:
        return _bounded(Parsed(source, _tree(text)))
    except SyntaxError as first:
        plain = _without_prompts(text)
        source = replace(source, parts=(Part(0, plain, 1),))
        reading, error = _repaired(plain)
        if error is not None:
            raise UnreadableFile(_says(source, error, first)) from first
    tree = _tree("\n".join(reading.rows))
    return _bounded(Parsed(source, tree, tuple(reading.python2), (), tuple(reading.shell)))


def _parse_cells(source: Source) -> Parsed:
    bodies: list[ast.stmt] = []
    python2: list[OldLine] = []
    left_out: list[str] = []
    shell: list[tuple[int, str]] = []
    for part in source.parts:
        before = part.first_line - 1
        if _NOT_PYTHON.match(part.text):
            continue
        reading, error = _repaired(part.text)
        if error is not None:
            where = source.where(before + (error.lineno or 1))
            left_out.append(f"{where}: not read, it is no Python ({error.msg}).")
            continue
        tree = _tree("\n".join(reading.rows))
        ast.increment_lineno(tree, before)
        bodies.extend(tree.body)
        python2.extend(replace(old, line=old.line + before) for old in reading.python2)
        shell.extend((line + before, text) for line, text in reading.shell)
    return _bounded(Parsed(source, ast.Module(bodies, []), tuple(python2), tuple(left_out), tuple(shell)))


def _repaired(text: str) -> tuple[_Reading, SyntaxError | None]:
    """The lines with magics and Python 2 made readable in their places; the error that stays."""
    reading = _Reading(text.split("\n"))
    touched: set[int] = set()
    for _ in range(_MOST_REPAIRS):
        try:
            _tree("\n".join(reading.rows))
            return reading, None
        except SyntaxError as error:
            if not _mend(reading, error, touched):
                return reading, error
    return reading, SyntaxError("too many lines that are no Python 3")


def _mend(reading: _Reading, error: SyntaxError, touched: set[int]) -> bool:
    """Makes the line of an error, or one just above it, readable."""
    at = min(max(error.lineno or 1, 1), len(reading.rows))
    for number in (at, at - 1, at + 1):
        if not 1 <= number <= len(reading.rows) or number in touched:
            continue
        row = reading.rows[number - 1]
        if found := _MAGIC.match(row):
            touched.add(number)
            reading.shell.append((number, row.strip()))
            command = re.match(r"^\s*%(?:time|timeit|prun|memit)\s+(.+)$", row)
            reading.rows[number - 1] = found.group(1) + (command.group(1) if command else "pass")
            return True
        if found := _ASSIGNED_MAGIC.match(row):
            touched.add(number)
            reading.shell.append((number, row.strip()))
            reading.rows[number - 1] = f"{found.group(1)}None"
            return True
        now = _of_today(row)
        if now is not None:
            touched.add(number)
            reading.python2.append(OldLine(number, now[0], now[1]))
            reading.rows[number - 1] = now[1] or re.sub(r"\S.*", "pass", row)
            return True
    return False


def _of_today(row: str) -> tuple[str, str] | None:
    for pattern, what in _PYTHON2:
        found = pattern.match(row)
        if found is None:
            continue
        groups = found.groups()
        if what == "the statement print":
            inside = groups[1] if len(groups) > 1 else ""
            end = ", end=' '" if len(groups) > 2 and groups[2] else ""
            return what, f"{groups[0]}print({inside.rstrip()}{end})"
        if what == "except with a comma":
            return what, f"{groups[0]}except {groups[1]} as {groups[2]}:{groups[3]}"
        if what == "raise with a comma":
            return what, f"{groups[0]}raise {groups[1]}({groups[2]})"
        return what, ""
    if _OCTAL.search(row) or _LONG.search(row):
        return "a number of Python 2", _LONG.sub(r"\1", _OCTAL.sub(lambda m: f"0o{m.group()[1:]}", row))
    return None


def _without_prompts(text: str) -> str:
    """Text copied out of an interpreter or from within a function: prompts and common indentation taken off."""
    rows = text.split("\n")
    if any(re.match(r"\s*>>> ", row) for row in rows):
        kept = [re.sub(r"^\s*(?:>>>|\.\.\.) ?", "", row) for row in rows if re.match(r"\s*(?:>>>|\.\.\.)(?: |$)", row)]
        return "\n".join(kept)
    return textwrap.dedent(text)


def _tree(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError:
        raise
    except (RecursionError, MemoryError) as error:
        raise TooLarge("Expected a script, got code nested too deeply to be one.") from error
    except ValueError as error:
        raise SyntaxError(str(error)) from error


def _bounded(parsed: Parsed) -> Parsed:
    """The same, if it is neither deeper nor longer than a script."""
    count, level, depth = 0, [parsed.tree], 0
    nodes: list[ast.AST] = list(level)
    while nodes:
        count += len(nodes)
        depth += 1
        if depth > _DEEPEST or count > _MOST_NODES:
            raise TooLarge(f"{parsed.source.name}: expected a training script, got code nested too deeply or too long.")
        nodes = [child for node in nodes for child in ast.iter_child_nodes(node)]
    return parsed


def _says(source: Source, error: SyntaxError, first: SyntaxError) -> str:
    line = error.lineno or first.lineno or 1
    row = source.code_at(line)
    shown = f" at {row[:60]!r}" if row else ""
    if "print" in (error.msg or "") or _of_today(row) is not None:
        return f"{source.where(line)}: Python 2 ({error.msg}). Expected Python 3: TensorFlow 2 runs on nothing older."
    return f"{source.where(line)}: expected Python, got {error.msg}{shown}. Mend that line, or paste whole statements."
