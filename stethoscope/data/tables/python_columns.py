"""Records as parsed from JSON turned into columns: numbers, text, lists of numbers; nested objects flattened.

Large JSON read one record after another: what stands before damage is kept, and nothing is held that is not asked for.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import dataset
from stethoscope.data.tables.field_rows import Column, stacked, text_array

_DEPTH = 4
_LARGEST = 2**63
_UNEVEN_FRACTION = 0.05
"""Share of the values of another kind that count as mistakes in a column of numbers or lists."""


def flat(record: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    """One object with the names of nested ones joined by "."."""
    found: dict[str, Any] = {}
    for key, value in record.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and depth < _DEPTH:
            found |= flat(value, f"{name}.", depth + 1)
        else:
            found[name] = value
        if len(found) > dataset.MAX_COLUMNS:
            break
    return found


def column_of(values: Sequence[Any]) -> tuple[Column, list[tuple[int, str]]]:
    """One column, and the rows whose value is of another kind than the others': (row, what it holds)."""
    given = [value for value in values if value is not None]
    if given and all(isinstance(value, bool) for value in given) and len(given) == len(values):
        return np.array(values, dtype=bool), []
    numbers = sum(_is_number(value) for value in given)
    if given and numbers >= (1 - _UNEVEN_FRACTION) * len(given) and numbers:
        bad = [
            (row, str(value)[:60]) for row, value in enumerate(values) if value is not None and not _is_number(value)
        ]
        return _numbers(values), bad
    lists = sum(isinstance(value, list) for value in given)
    if given and lists >= (1 - _UNEVEN_FRACTION) * len(given) and lists:
        bad = [
            (row, _text(value)[:60])
            for row, value in enumerate(values)
            if value is not None and not isinstance(value, list)
        ]
        return stacked([array_of(value) if isinstance(value, list) else None for value in values]), bad
    return text_array([_text(value) for value in values]), []


def array_of(value: list[Any]) -> npt.NDArray[Any]:
    """A list as an array: of numbers or words where it is a regular one, else its JSON as text."""
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):
        return np.array(_text(value))
    if not value:
        return np.zeros(0, np.int64)
    return array if array.dtype.kind in "biufU" else np.array(_text(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _numbers(values: Sequence[Any]) -> npt.NDArray[Any]:
    if all(isinstance(value, int) and abs(value) < _LARGEST for value in values):
        return np.array(values, dtype=np.int64)
    return np.array([_float(value) for value in values], dtype=np.float64)


def _float(value: Any) -> float:
    try:
        return float(value) if _is_number(value) else math.nan
    except OverflowError:
        return math.inf


def _text(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text[: dataset.MAX_TEXT]


_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Record:
    """One value: an element of a list, or a value that is no list."""

    key: str
    """The top-level key it stands under; "" where the file itself is a list."""
    start: int
    """Where it begins in the text, so that it can be read again."""
    value: Any


class JsonRecords:
    """The records of a JSON text, in file order."""

    def __init__(self, text: str) -> None:
        self._text, self._after = text, 0
        self.damage = ""
        """After reading: why it ended early, one sentence; "" where it did not."""

    def __iter__(self) -> Iterator[Record]:
        self.damage = ""
        try:
            yield from self._records()
        except (ValueError, IndexError, RecursionError) as error:
            at = getattr(error, "pos", None)
            where = f" at character {at:,}" if isinstance(at, int) else ""
            reason = str(error).split(":")[0][:100] if not isinstance(error, IndexError) else "the text ends"
            self.damage = f"The JSON is damaged{where} ({reason}); what stands before is shown."

    def again(self, start: int) -> Any:
        """The record that begins at `start`; `start` must come from a `Record` of this text."""
        return _DECODER.raw_decode(self._text, start)[0]

    def _records(self) -> Iterator[Record]:
        at = self._skip(0)
        if self._text[at] == "[":
            yield from self._elements("", at)
            return
        if self._text[at] != "{":
            raise ValueError("expected an object or a list")
        at = self._skip(at + 1)
        while self._text[at] != "}":
            key, at = _DECODER.raw_decode(self._text, at)
            at = self._skip(at)
            if self._text[at] != ":":
                raise ValueError(f"no colon after a key, at character {at:,}")
            at = self._skip(at + 1)
            if self._text[at] == "[":
                yield from self._elements(str(key), at)
                at = self._after
            else:
                value, end = _DECODER.raw_decode(self._text, at)
                yield Record(str(key), at, value)
                at = end
            at = self._skip(at)
            if self._text[at] == ",":
                at = self._skip(at + 1)

    def _elements(self, key: str, at: int) -> Iterator[Record]:
        at = self._skip(at + 1)
        while self._text[at] != "]":
            value, end = _DECODER.raw_decode(self._text, at)
            yield Record(key, at, value)
            at = self._skip(end)
            if self._text[at] == ",":
                at = self._skip(at + 1)
            elif self._text[at] != "]":
                raise ValueError(f"no comma after an element, at character {at:,}")
        self._after = at + 1

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        assert found is not None, "matches anything"
        return found.end()
