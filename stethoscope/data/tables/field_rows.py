"""Data made of fields: how columns become samples to look at, and the arrays that a model gets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from stethoscope.data import dataset
from stethoscope.data.dataset import DataAbout, DataField, Mark, Sample
from stethoscope.data.tables.table_guesses import channels_first, is_one_hot
from stethoscope.errors import UnreadableFile
from stethoscope.types import Feed

Column = Any
"""An array with the rows first, or a list with one array per row (None for a row that cannot be read)."""
_MEDIA = ("image", "audio", "sequence", "tokens", "array", "mask")
_UNICODE_BYTES = 8 << 20
_NEXT_TO = 8
"""Rows read although nobody asked for them, so that those on both sides are read at once."""


class FieldRows(ABC):
    """A `Dataset` whose rows come as columns; a reader says how columns are read, the rest is here."""

    about: DataAbout
    opened: ExitStack | None = None
    """What stays open as long as rows are read; None where nothing does."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the files."""
        if self.opened is not None:
            self.opened.close()

    @abstractmethod
    def columns(self, start: int, stop: int, names: Sequence[str] | None = None) -> Mapping[str, Column]:
        """See `Dataset.columns`."""

    def whole(self) -> Feed | None:
        """See `Dataset.whole`: these are the rows of one table."""
        return None

    def row_problems(self, start: int, stop: int) -> Mapping[int, Sequence[str]]:
        """Sentences about single rows, by place."""
        return {}

    def marks_of(self, values: Mapping[str, Column], place: int) -> tuple[Mark, ...]:
        """What is marked on one row."""
        return ()

    def name_of(self, values: Mapping[str, Column], place: int) -> str:
        """A row's name; "" where rows have none."""
        return ""

    def samples(self, places: Sequence[int]) -> list[Sample]:
        """See `Dataset.samples`."""
        found: dict[int, Sample] = {}
        for start, stop in _runs([place for place in places if 0 <= place < self.about.rows]):
            wanted = {place for place in places if start <= place < stop}
            try:
                columns, problems = self.columns(start, stop), self.row_problems(start, stop)
            except UnreadableFile as error:
                for place in wanted:
                    found[place] = Sample(place, "", {}, split=self.split_of(place), problems=(str(error),))
                continue
            length = min((len(column) for column in columns.values()), default=0)
            for place in sorted(wanted):
                if place - start < length:
                    row = {name: column[place - start] for name, column in columns.items()}
                    found[place] = self._sample(place, row, problems.get(place, ()))
        return [found[place] for place in places if place in found]

    def outlines(self, places: Sequence[int]) -> list[Sample]:
        """See `Outlined.outlines`: only the target and the split are read."""
        names = [field.name for field in self.about.fields if field.role in ("target", "split")]
        found: dict[int, Sample] = {}
        for start, stop in _runs([place for place in places if 0 <= place < self.about.rows]):
            columns = self.columns(start, stop, names) if names else {}
            for place in range(start, stop):
                row = {name: column[place - start] for name, column in columns.items() if place - start < len(column)}
                found[place] = replace(self._sample(place, row, ()), values={}, marks=(), problems=())
        return [found[place] for place in places if place in found]

    def feed(self, start: int, stop: int) -> Feed | Mapping[str, Any]:
        """See `Dataset.feed`."""
        columns = dict(self.columns(start, stop))
        fields = [one for one in self.about.fields if one.name in columns]
        columns = _readable(columns, fields)
        for field in fields:
            column = columns[field.name]
            if field.role == "target" and isinstance(column, np.ndarray) and column.dtype.kind in "USO":
                columns[field.name] = numbers_of(column, self.about.classes)
            elif field.role == "target" and isinstance(column, np.ndarray) and column.dtype.kind == "b":
                columns[field.name] = column.astype(np.int64)
        return {**columns, **model_arrays(columns, fields)}

    def _sample(self, place: int, row: Mapping[str, Column], problems: Sequence[str]) -> Sample:
        values: dict[str, npt.NDArray[Any]] = {}
        label, split = "", ""
        said = list(problems)
        for field in self.about.fields:
            value = row.get(field.name)
            if value is None:
                if field.name in row and not said:
                    said.append(f"{field.name!r} could not be read.")
                continue
            array = np.asarray(value)
            if field.role == "target":
                label = label or label_of(array, field, self.about.classes)
            if field.role == "split":
                split = str(array)[:80]
            values[field.name] = _to_look_at(array, field)
        name = self.name_of(row, place)
        return Sample(place, name, values, label, self.marks_of(row, place), split or self.split_of(place), tuple(said))

    def split_of(self, place: int) -> str:
        """Which part of the data a row belongs to; "" where it is not divided."""
        return ""


def model_arrays(columns: Mapping[str, Column], fields: Sequence[DataField]) -> dict[str, Column]:
    """ "x" and "y" of the columns of one part, as `Dataset.feed` has them; several inputs or targets of media stay apart."""
    found: dict[str, Column] = {}
    inputs = [field for field in fields if field.role == "input"]
    media = [field for field in inputs if field.kind in _MEDIA and field.dtype != "string"]
    numbers = [field for field in inputs if field.kind == "number" and field.shape in ((), (1,))]
    texts = [field for field in inputs if field.kind in ("text", "category")]
    if media:
        found["x"] = columns[media[0].name]
    elif numbers:
        parts = [np.asarray(columns[field.name]).reshape(-1) for field in numbers]
        # float64 holds whole numbers to 2**53, which float32 would round.
        found["x"] = np.stack([part.astype(np.float64) for part in parts], axis=1)
    elif texts:
        found["x"] = columns[texts[0].name]
    targets = [field for field in fields if field.role == "target"]
    if targets:
        found["y"] = columns[targets[0].name]
    return {name: column for name, column in found.items() if name not in columns}


def numbers_of(labels: npt.NDArray[Any], classes: Sequence[str]) -> npt.NDArray[Any]:
    """Class numbers (int64) of labels in words; -1 for one that is not among the classes."""
    places = {name: number for number, name in enumerate(classes)}
    return np.array([places.get(str(label), -1) for label in labels.reshape(-1)], np.int64).reshape(labels.shape)


def label_of(value: npt.NDArray[Any], field: DataField, classes: Sequence[str]) -> str:
    """One row's target in words: its class name, its number, or "" where it is no single value."""
    if value.dtype.kind in "US" and value.size == 1:
        return str(value.reshape(())[()])[:200]
    if field.details.get("one_hot") and value.ndim == 1:
        return _class_name(int(value.argmax()), classes)
    if value.size != 1 or value.dtype.kind not in "biuf":
        return ""
    number = value.reshape(())[()].item()
    if isinstance(number, float) and not number.is_integer():
        return f"{number:.4g}"
    return _class_name(int(number), classes) if field.kind == "category" else f"{int(number)}"


def text_array(values: Sequence[str]) -> npt.NDArray[Any]:
    """Text as an array: of fixed width while that is small, else of objects (one long text would widen every row)."""
    widest = max((len(value) for value in values), default=0)
    if widest * 4 * len(values) <= _UNICODE_BYTES:
        return np.array(values, dtype=str)
    made = np.empty(len(values), dtype=object)
    made[:] = [value[: dataset.MAX_TEXT] for value in values]
    return made


def stacked(rows: Sequence[npt.NDArray[Any] | None]) -> Column:
    """One array where every row is there and has the same shape and dtype, else the list of rows."""
    shapes = {None if row is None else (row.shape, row.dtype.kind) for row in rows}
    if len(shapes) == 1 and None not in shapes:
        return np.stack([row for row in rows if row is not None])
    return list(rows)


def one_hot_details(field_role: str, first_rows: npt.NDArray[Any]) -> dict[str, Any]:
    """What a target's first rows say of its form."""
    return {"one_hot": True} if field_role == "target" and is_one_hot(first_rows) else {}


def _class_name(number: int, classes: Sequence[str]) -> str:
    return classes[number] if 0 <= number < len(classes) else str(number)


def _readable(columns: dict[str, Column], fields: Sequence[DataField]) -> dict[str, Column]:
    """The columns without the rows that one of the model's own fields lacks."""
    needed = [columns[field.name] for field in fields if field.role in ("input", "target")]
    gone = {
        place for column in needed if isinstance(column, list) for place, value in enumerate(column) if value is None
    }
    if not gone and not any(isinstance(column, list) for column in columns.values()):
        return columns
    made: dict[str, Column] = {}
    for name, column in columns.items():
        if isinstance(column, list):
            made[name] = stacked([value for place, value in enumerate(column) if place not in gone])
        else:
            made[name] = np.delete(column, sorted(gone), axis=0) if gone else column
    return made


def _to_look_at(array: npt.NDArray[Any], field: DataField) -> npt.NDArray[Any]:
    if array.dtype.kind in "SO" and array.ndim == 0:
        value = array[()]
        return np.array(value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value))
    if field.kind == "image" and channels_first(array.shape):
        return np.moveaxis(array, 0, -1)
    if field.kind == "image" and array.ndim == 2:
        return array[:, :, None]
    return array


def _runs(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ranges that cover `places`, those near each other in one."""
    wanted = sorted(set(places))
    first = 0
    for at in range(1, len(wanted) + 1):
        if at == len(wanted) or wanted[at] - wanted[at - 1] > _NEXT_TO:
            yield wanted[first], wanted[at - 1] + 1
            first = at
