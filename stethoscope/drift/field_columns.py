"""One field of a data set as columns of numbers or words; pictures, texts and long arrays measured row by row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.dataset import DataField
from stethoscope.data.tables.table_guesses import is_one_hot
from stethoscope.drift.measures import (
    looks_like_moments,
    picture_measures,
    seconds_of,
    sequence_measures,
    text_measures,
)

Numbers = npt.NDArray[np.float64]

WIDEST = 128
"""Values of a row up to which each is a feature of its own; of longer rows, summaries are."""
MOST_VECTOR = 1_024
"""Values of a row that take part where rows are compared as wholes."""
MEDIA = ("image", "mask", "audio", "sequence", "tokens", "array")
_LARGEST_SINGLE = 1e38
_MOST_DATES = 2_000
"""Different words of a column of categories that may all be dates."""
_MOST_TEXT = 20_000
"""Characters of one text that are looked at."""


@dataclass
class Field:
    """One field of one side, by rows."""

    name: str
    kind: str
    role: str
    numbers: dict[str, Numbers] = field(default_factory=dict)
    """Columns of numbers by what they are called; "" for the field itself. NaN where there is none."""
    words: npt.NDArray[Any] | None = None
    """Text of a category or text field, "" where there is none."""
    moments: Numbers | None = None
    """Seconds since 1970 of a column of dates."""
    tokens: list[list[int]] | None = None
    vectors: npt.NDArray[np.float32] | None = None
    """What stands for it where rows are compared as wholes; None where its columns do."""


class Collected:
    """Values of one field, measured as they come."""

    def __init__(self, described: DataField) -> None:
        self._of = described
        self._plain: list[npt.NDArray[Any]] = []
        """Parts of fields whose rows are not measured one by one."""
        self._kept: list[Any] = []
        self._measures: list[dict[str, float]] = []
        self._vectors: list[npt.NDArray[Any] | None] = []
        self._tokens: list[list[int]] = []

    def add(self, values: Sequence[Any] | npt.NDArray[Any]) -> None:
        """More rows; None where it could not be read."""
        if self._of.kind not in MEDIA:
            part = values if isinstance(values, np.ndarray) else _stacked([_array(one) for one in values])
            self._plain += [] if part is None else [part]
            return
        for value in values:
            measures: dict[str, float] = {}
            vector: npt.NDArray[Any] | None = None
            kept, tokens = value, []
            if self._of.kind == "image" and value is not None and np.ndim(value) in (2, 3) and np.size(value):
                (measures, vector), kept = picture_measures(np.asarray(value)), None
            elif self._of.kind in MEDIA and np.ndim(value) > 0 and not self._single(np.asarray(value)):
                flat, kept = np.asarray(value).ravel(), None
                measures = sequence_measures(np.asarray(value))
                vector = flat[:: -(-flat.size // MOST_VECTOR)].astype(np.float64) if flat.size else None
                tokens = [int(one) for one in flat[:_MOST_TEXT]] if self._of.kind == "tokens" else []
            self._kept.append(kept)
            self._measures.append(measures)
            self._vectors.append(vector)
            self._tokens.append(tokens)

    def _single(self, value: npt.NDArray[Any]) -> bool:
        return value.size == 1 or value.dtype.kind not in "fiub" or self._of.role == "target"

    def made(self, classes: tuple[str, ...]) -> Field:
        """The field, when all rows were given."""
        found = Field(self._of.name, self._of.kind, self._of.role)
        if any(self._measures):
            return self._of_media(found)
        array = _joined(self._plain) if self._plain else _stacked([_array(one) for one in self._kept])
        if array is None:
            return found
        if array.ndim == 2 and self._of.role == "target" and is_one_hot(array):
            array = array.argmax(axis=1)
        if array.ndim > 1:
            array = array.reshape(len(array), -1)
            if array.shape[1] == 1:
                array = array[:, 0]
        if array.dtype.kind in "fiub" and array.ndim == 1:
            numbers = array.astype(np.float64)
            if self._of.role == "target" and self._of.kind == "category":
                found.words = np.array([_class_name(one, classes) for one in numbers], object)
            else:
                found.numbers[""] = numbers
                if looks_like_moments(self._of.name, numbers):
                    found.moments = numbers
        elif array.dtype.kind in "fiub":
            found.numbers = _columns(array.astype(np.float64))
        else:
            self._of_words(found, array)
        return found

    def _of_media(self, found: Field) -> Field:
        names = list(dict.fromkeys(name for one in self._measures for name in one))
        if self._of.kind == "tokens":
            # Numbers of words have no order: their spread and bounds say nothing.
            names = [name for name in names if name in ("length", "mean", "share of zeros")]
        widths = {vector.size for vector in self._vectors if vector is not None}
        table = None
        if len(widths) == 1:
            empty = np.full(next(iter(widths)), np.nan)
            table = np.stack([empty if vector is None else vector for vector in self._vectors])
        if self._of.kind in ("array", "sequence") and table is not None and 1 < table.shape[1] <= WIDEST:
            found.numbers = _columns(table)
            return found
        for part in names:
            found.numbers[part] = np.array([one.get(part, np.nan) for one in self._measures], np.float64)
        if self._of.kind == "tokens":
            found.tokens = self._tokens
        if table is not None and self._of.kind != "tokens":
            found.vectors = np.nan_to_num(table, posinf=0.0, neginf=0.0).astype(np.float32)
        return found

    def _of_words(self, found: Field, array: npt.NDArray[Any]) -> None:
        words = np.array(
            ["" if one is None else str(one)[:_MOST_TEXT] for one in array.reshape(len(array), -1)[:, 0]], object
        )
        found.words = words
        if self._of.details.get("looks_like") == "date" or _are_dates(words):
            found.moments = seconds_of(words)
        elif self._of.kind == "text":
            measures = [text_measures(text) for text in words]
            found.numbers = (
                {name: np.array([one[name] for one in measures]) for name in measures[0]} if measures else {}
            )


def _are_dates(words: npt.NDArray[np.object_]) -> bool:
    """Whether every different word is a date: days that repeat are moments as well, not categories."""
    known = dict.fromkeys(word for word in words if word)
    if not known or len(known) > _MOST_DATES or not all(word[:1].isdigit() for word in known):
        return False
    return bool(np.isfinite(seconds_of(list(known))).all())


def number_word(value: float) -> str:
    """A number as the name of a category: as short as it can be without becoming that of another number."""
    if math.isnan(value):
        return ""
    short = f"{value:g}"
    if float(short) == value:
        return short
    single = np.float32(value) if abs(value) < _LARGEST_SINGLE else np.float32(np.inf)
    return str(single if float(single) == value else value).removesuffix(".0")


def _columns(table: Numbers) -> dict[str, Numbers]:
    if table.shape[1] <= WIDEST:
        return {str(number): table[:, number] for number in range(table.shape[1])}
    measures = [sequence_measures(row) for row in table]
    return {name: np.array([one[name] for one in measures]) for name in measures[0]}


def _array(value: Any) -> npt.NDArray[Any] | None:
    return None if value is None else np.asarray(value)


def _joined(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Parts of a field as one array; as text where not all of them are numbers of one shape."""
    if all(part.dtype.kind in "fiub" for part in parts) and len({part.shape[1:] for part in parts}) == 1:
        return np.concatenate(parts)
    return np.array(["" if one is None else _text(np.asarray(one)) for part in parts for one in part], object)


def _stacked(values: list[npt.NDArray[Any] | None]) -> npt.NDArray[Any] | None:
    """Rows as one array; unreadable ones as NaN or ""."""
    known = [value for value in values if value is not None]
    if not known:
        return np.full(len(values), np.nan) if values else None
    if all(value.dtype.kind in "fiub" for value in known) and len({value.shape for value in known}) == 1:
        empty = np.full(known[0].shape, np.nan)
        return np.stack([empty if value is None else value for value in values])
    return np.array(["" if value is None else _text(value) for value in values], object)


def _text(value: npt.NDArray[Any]) -> str:
    if value.size != 1:
        return str(value.tolist())[:_MOST_TEXT]
    single = value.reshape(-1)[0]
    return single.decode("utf-8", "replace") if isinstance(single, bytes) else str(single)


def _class_name(number: float, classes: tuple[str, ...]) -> str:
    if not np.isfinite(number):
        return ""
    whole = int(number)
    return classes[whole] if whole == number and 0 <= whole < len(classes) else number_word(number)
