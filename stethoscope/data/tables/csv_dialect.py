"""How a table of text is written: encoding, delimiter, header, decimal mark. Found in its first bytes."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stethoscope.data import dataset
from stethoscope.errors import BadSetting, TooLarge, UnreadableFile

DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}
"""In the order in which they are preferred where they cut equally well."""
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "?", "-", "#N/A", "<NA>", "NaT")
NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*|\s*[+-]?(?:inf|infinity)\s*", re.I)
_COMMA_NUMBER = re.compile(r"\s*[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+\s*")
_POINT_NUMBER = re.compile(r"\s*[+-]?\d+\.\d+\s*")
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_ROWS = 200
_LIMIT = 1 << 20


@dataclass(frozen=True)
class Dialect:
    """How one file of a table is written."""

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    """Of the columns, each once."""
    skip_rows: int
    """Lines before the first row: comments and the header."""
    decimal: str = "."
    multiline: bool = False
    """Whether there are quotes, so that a cell may go over several lines."""


def dialect_of(subject: str, head: bytes, options: Mapping[str, Any], *, whole: bool) -> Dialect:
    """Reads how a file is written off its first bytes.

    Args:
        subject: for error texts.
        head: the first bytes.
        options: {"delimiter", "header" (bool), "encoding"}, all optional.
        whole: whether `head` is all of it.

    Raises:
        UnreadableFile: it is no text, or has no rows.
        TooLarge: more than `bounds.MAX_COLUMNS` columns.
        BadSetting: an option that makes no sense.
    """
    encoding = str(options.get("encoding") or "") or encoding_of(subject, head, whole=whole)
    text = _decoded(head, encoding)
    skipped, body = _without_comments(text)
    delimiter = str(options.get("delimiter") or "") or delimiter_of(body, whole=whole) or ","
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise BadSetting(f"Delimiter {delimiter[:10]!r}: expected a single character, for example ';'.")
    rows = first_rows(body, delimiter, whole=whole)
    if not rows:
        raise UnreadableFile(f"{subject}: expected a table of text, got no rows. Save it again with a header line.")
    if len(rows[0]) > dataset.MAX_COLUMNS:
        raise TooLarge(f"{subject}: has {len(rows[0]):,} columns, expected at most {dataset.MAX_COLUMNS:,}.")
    said = options.get("header")
    header = has_header(rows) if said is None else bool(said)
    names = _each_once(rows[0] if header else [f"column {place + 1}" for place in range(_usual_width(rows))])
    return Dialect(encoding, delimiter, tuple(names), skipped + int(header), _decimal(rows[1:], delimiter), '"' in text)


def encoding_of(subject: str, head: bytes, *, whole: bool) -> str:
    """The encoding of text: by its mark, else UTF-8 where it is that, else Windows' Latin-1.

    Raises:
        UnreadableFile: it is no text.
    """
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    if b"\x00" in head:
        pairs = head[: len(head) // 2 * 2]
        if pairs and pairs[1::2].count(0) > len(pairs) // 3:
            return "utf-16-le"
        if pairs and pairs[::2].count(0) > len(pairs) // 3:
            return "utf-16-be"
        raise UnreadableFile(f"{subject}: expected text, got binary content. Save it as UTF-8 text.")
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if whole or error.start < len(head) - 4:
            return "cp1252"
    return "utf-8"


def delimiter_of(text: str, *, whole: bool) -> str:
    """The character that cuts every line into equally many cells, at least two; "" where none does."""
    best, found = (0.0, 0), ""
    for delimiter in DELIMITERS:
        rows = first_rows(text, delimiter, whole=whole)
        widths = Counter(len(row) for row in rows)
        if not widths:
            continue
        width, often = widths.most_common(1)[0]
        share = often / len(rows)
        if width > 1 and share >= 0.6 and (round(share, 1), width) > best:
            best, found = (round(share, 1), width), delimiter
    return found


def first_rows(text: str, delimiter: str, *, whole: bool) -> list[list[str]]:
    """The first rows that are whole, empty lines left out."""
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) > _ROWS:
                return rows
    except csv.Error:
        return rows
    return rows if whole or len(rows) < 2 else rows[:-1]


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: text above numbers, or different words and no number at all."""
    first, rest = rows[0], rows[1:]
    cells = [cell.strip() for cell in first]
    for place, cell in enumerate(cells):
        below = [row[place] for row in rest if place < len(row) and row[place].strip() not in MISSING]
        if cell and not _number(cell) and below and sum(map(_number, below)) > 0.8 * len(below):
            return True
    if any(_number(cell) for cell in cells) or len(set(cells)) < len(cells) or not rest:
        return not rest and len(set(cells)) == len(cells) and not any(_number(cell) for cell in cells)
    # Text over text: a header is not a value that comes again.
    return not any(
        cell in {row[place].strip() for row in rest if place < len(row)} for place, cell in enumerate(cells)
    ) and all(len(cell) <= 64 for cell in cells)


def _number(cell: str) -> bool:
    return NUMBER.fullmatch(cell) is not None or _COMMA_NUMBER.fullmatch(cell) is not None


def _decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    cells = [cell for row in rows for cell in row]
    commas = sum(_COMMA_NUMBER.fullmatch(cell) is not None for cell in cells)
    return "," if commas > sum(_POINT_NUMBER.fullmatch(cell) is not None for cell in cells) else "."


def _without_comments(text: str) -> tuple[int, str]:
    lines, skipped = text.splitlines(keepends=True), 0
    while skipped < len(lines) and (lines[skipped].startswith("#") or not lines[skipped].strip()):
        skipped += 1
    # pyarrow does not count empty lines as rows.
    counted = sum(bool(line.strip()) for line in lines[:skipped])
    return counted, "".join(lines[skipped:])


def _usual_width(rows: Sequence[Sequence[str]]) -> int:
    return Counter(len(row) for row in rows).most_common(1)[0][0]


def _each_once(names: Sequence[str]) -> list[str]:
    made: list[str] = []
    seen: set[str] = set()
    for place, given in enumerate(names):
        name = given.strip() or f"column {place + 1}"
        number, once = 1, name
        while once in seen:
            number += 1
            once = f"{name} ({number})"
        seen.add(once)
        made.append(once)
    return made


def _decoded(head: bytes, encoding: str) -> str:
    try:
        return head[:_LIMIT].decode(encoding, errors="replace").replace("\x00", "")
    except LookupError as error:
        raise BadSetting(f"Encoding {encoding[:40]!r}: no such encoding. Try utf-8 or cp1252.") from error
