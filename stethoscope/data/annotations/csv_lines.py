"""CSV that lists images: rows as dictionaries, bounded, with or without a header."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

_FIELD = 1 << 20


def csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """(line number, values trimmed) of each line that is not empty; the delimiter is judged from the first line."""
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t|", key=first.count)
    csv.field_size_limit(_FIELD)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            continue
        values = [value.strip() for value in row]
        if any(values):
            yield reader.line_num, values


def head_rows(head: bytes, most: int = 20) -> list[list[str]]:
    """The first rows of a file's first bytes; the last, which may be cut off, is left out."""
    text = head.decode("utf-8-sig", "replace")
    whole = text if len(head) < 60_000 else text.rpartition("\n")[0]
    return [values for _, values in zip_first(csv_rows(whole), most)]


def zip_first(rows: Iterator[tuple[int, list[str]]], most: int) -> Iterator[tuple[int, list[str]]]:
    """At most the first `most` of them."""
    for _, row in zip(range(most), rows, strict=False):
        yield row


FILE_COLUMNS = ("filename", "file", "image", "imagepath", "path", "imagename", "img", "imageid")
"""What tools call the column of an image's name, the likeliest first; as `column` compares names."""


def column(header: Sequence[str], names: Sequence[str]) -> int | None:
    """Where a column of one of these names stands, in the order of `names`; case, spaces and underscores do not matter."""
    plain = [name.lower().replace("_", "").replace(" ", "").replace("-", "") for name in header]
    for name in names:
        if name in plain:
            return plain.index(name)
    return None


def is_number(value: str) -> bool:
    """Whether a text is a number."""
    try:
        float(value)
    except ValueError:
        return False
    return True
