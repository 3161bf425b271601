"""Records as parsed from JSON turned into columns: numbers, text, lists of numbers; nested objects flattened."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import bounds
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
        if len(found) > bounds.MAX_COLUMNS:
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
    return text[: bounds.MAX_TEXT]
