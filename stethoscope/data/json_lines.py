"""JSON: an object on each line, a list of objects, or an object of lists; text, numbers and token ids by name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stethoscope.data import dataset
from stethoscope.data.streams.text_source import head_of, is_single, names_ending, open_stream, text_of
from stethoscope.data.survey import ProblemList, split_in_stem, survey
from stethoscope.data.tables.python_columns import column_of, flat
from stethoscope.data.tables.table_fields import ColumnTable
from stethoscope.data.tables.table_guesses import encoding_of
from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.models.containers.damage import JSON
from stethoscope.types import ModelFile

_SUFFIXES = (".jsonl", ".ndjson", ".json")
_MOST_BYTES = 64 << 20
_MEMORY_FACTOR = 12
"""Parsed JSON takes about that many times the bytes of its text."""
_LIST_KEYS = ("data", "rows", "records", "items", "examples", "instances", "samples")


class JsonReader:
    """Reads records of JSON."""

    id = "json"
    title = "JSON records"
    extensions = _SUFFIXES
    priority = 65

    def sniff(self, file: ModelFile) -> bool:
        """Whether it begins like JSON and is named so, or its first line is an object of its own."""
        if not is_single(file):
            found = survey(file)
            return bool(names_ending(file, _SUFFIXES[:2])) and not found.images
        head = head_of(file)
        text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if text[:1] not in (b"{", b"["):
            return False
        if file.name.lower().removesuffix(".gz").endswith(_SUFFIXES):
            return True
        line = text.partition(b"\n")[0]
        try:
            return isinstance(json.loads(line), dict | list)
        except JSON:
            return False

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> ColumnTable:
        """Reads the records; see `DataReader.open`. options: {"target": key or "none"}."""
        problems = ProblemList()
        limit = max(1 << 20, min(_MOST_BYTES, budget_bytes // _MEMORY_FACTOR))
        notes: list[str] = []
        if is_single(file):
            text, cut = _text_of(file, file.name, limit)
            rows = _by_line(text, problems) if _line_by_line(text) else _whole(file, text, cut, limit)
        else:
            rows, cut = _of_members(file, names_ending(file, _SUFFIXES[:2]), limit, problems, notes)
        if not rows:
            raise UnreadableFile(
                f"{file.name}: expected JSON records, got none. Write one object a line, or a list of objects."
            )
        columns = _columns(rows, problems)
        notes += [f"Only the first {len(rows):,} rows are read: more do not fit the memory allowed."] if cut else []
        return ColumnTable(self.id, self.title, file.name, columns, options, problems, notes=notes, exact=not cut)


def _of_members(
    file: ModelFile, names: Sequence[str], limit: int, problems: ProblemList, notes: list[str]
) -> tuple[list[Mapping[str, Any]], bool]:
    """The rows of all files one after another, with the split that each file's name tells; and whether some were left out."""
    rows: list[Mapping[str, Any]] = []
    left, cut = limit, False
    for number, name in enumerate(names):
        if left <= 0:
            notes.append(f"Not read: {', '.join(names[number : number + 5])}{' …' if len(names) > number + 5 else ''}.")
            return rows, True
        try:
            text, cut = _text_of(file, name, left)
            by_line = _line_by_line(text)
            found = (
                _by_line(text, problems, name if len(names) > 1 else "") if by_line else _whole(file, text, cut, left)
            )
        except UnreadableFile as error:
            problems.add("file", name, str(error))
            continue
        left -= len(text)
        split = split_in_stem(name) if len(names) > 1 else ""
        rows += [{**row, "split": split} for row in found] if split and found and "split" not in found[0] else found
    if len(names) > 1:
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        notes.append(f"The rows of {len(names):,} files, one after another: {shown}.")
    return rows, cut


def _text_of(file: ModelFile, name: str, limit: int) -> tuple[str, bool]:
    with open_stream(file, name) as stream:
        head = stream.read(1 << 16)
    text, source = text_of(file, name, encoding_of(file.name, head, whole=False), limit)
    if source.damage:
        raise UnreadableFile(f"{file.name}: is damaged ({source.damage}). Save it again or repeat the upload.")
    return text, source.read_bytes > limit


def _line_by_line(text: str) -> bool:
    """Whether the first line is a value of its own and another follows."""
    line, _, rest = text.lstrip().partition("\n")
    if not rest.strip() or rest.lstrip()[0] not in "{[":
        return False
    try:
        return isinstance(json.loads(line), dict | list)
    except JSON:
        return rest.lstrip().startswith("{") and line.startswith("{") and line.rstrip() != "{"


def _by_line(text: str, problems: ProblemList, name: str = "") -> list[Mapping[str, Any]]:
    of = f"{name}, " if name else ""
    rows: list[Mapping[str, Any]] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows.append(_row(json.loads(line)))
        except JSON as error:
            if number == len(lines) and rows:
                break
            problems.add("line", f"{of}line {number:,}", f"Is no JSON ({_gist(error)}); it is left out.")
        except TypeError:
            problems.add("kind", f"{of}line {number:,}", "Expected an object or a list; it is left out.")
    return rows


def _whole(file: ModelFile, text: str, cut: bool, limit: int) -> list[Mapping[str, Any]]:
    if cut:
        raise TooLarge(
            f"{file.name}: is larger than {limit:,} bytes. Write one object a line (.jsonl), or use Parquet."
        )
    try:
        value = json.loads(text)
    except JSON as error:
        raise UnreadableFile(f"{file.name}: expected JSON, got damage ({_gist(error)}). Save it again.") from error
    return list(_rows_of(value))


def _rows_of(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict):
        for key in _LIST_KEYS:
            if isinstance(value.get(key), list) and value[key] and isinstance(value[key][0], dict | list):
                value = value[key]
                break
    if isinstance(value, dict):
        lists = {key: item for key, item in value.items() if isinstance(item, list)}
        lengths = {len(item) for item in lists.values()}
        if lists and len(lengths) == 1 and len(lists) == len(value):
            for number in range(lengths.pop()):
                yield {key: item[number] for key, item in lists.items()}
            return
        # pandas writes columns as objects from row number to value.
        tables = [item for item in value.values() if isinstance(item, dict)]
        if tables and len(tables) == len(value) and len({tuple(item) for item in tables}) == 1:
            for row in tables[0]:
                yield {key: item[row] for key, item in value.items()}
            return
        yield _row(value)
        return
    if isinstance(value, list):
        for item in value:
            try:
                yield _row(item)
            except TypeError:
                yield {"value": item}


def _row(value: Any) -> Mapping[str, Any]:
    """One record by name; of a list of numbers, the row of x; of a list of values, numbered columns.

    Raises:
        TypeError: a lone value.
    """
    if isinstance(value, dict):
        return flat(value)
    if isinstance(value, list):
        numbers = all(isinstance(item, int | float) for item in value)
        return {"x": value} if numbers else {f"column {place + 1}": item for place, item in enumerate(value)}
    raise TypeError


def _columns(rows: Sequence[Mapping[str, Any]], problems: ProblemList) -> dict[str, Any]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    if len(names) > dataset.MAX_COLUMNS:
        raise TooLarge(f"The records have {len(names):,} different names, expected at most {dataset.MAX_COLUMNS:,}.")
    columns = {}
    for name in names:
        column, bad = column_of([row.get(name) for row in rows])
        columns[name] = column
        for row, value in bad:
            problems.add(
                f"value {name}",
                f"row {row + 1:,}",
                f"{name!r}: expected {_expected(column)}, got {value!r}; it counts as missing.",
            )
    return columns


def _expected(column: Any) -> str:
    return "a list" if isinstance(column, list) or column.ndim > 1 else "a number"


def _gist(error: Exception) -> str:
    return str(error)[:120] if isinstance(error, ValueError) else "nested too deeply"


READER = JsonReader()
