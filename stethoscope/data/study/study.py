"""Goes through a data set once, within a time, and hands every part of a row to whoever studies it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from stethoscope.data.dataset import DataAbout, DataField, Dataset, FieldKind, Role, Sample
from stethoscope.data.study.marks import Categories, CategoryStudy, Marks, MarkStudy
from stethoscope.data.study.numbers import Dates, DateStudy, Numbers, NumberStudy
from stethoscope.data.study.pictures import Masks, MaskStudy, Pictures, PictureStudy
from stethoscope.data.study.repeats import Relations, RelationStudy, Repeats, RepeatStudy, combined, numbers_of
from stethoscope.data.study.texts import Sequences, SequenceStudy, Texts, TextStudy, Tokens, TokenStudy

TIME_S = 20.0
_TABLE_ROWS = 4_096
_SAMPLE_ROWS = 64

FieldStudy: TypeAlias = (
    NumberStudy | CategoryStudy | TextStudy | TokenStudy | SequenceStudy | PictureStudy | MaskStudy | DateStudy
)


@dataclass(frozen=True)
class StudiedField:
    """One field, and what was learned of its values. Names are hostile."""

    name: str
    kind: FieldKind
    role: Role
    single: bool
    """Whether a row has one value of it."""
    of: Numbers | Categories | Texts | Tokens | Sequences | Pictures | Masks | Dates


@dataclass(frozen=True)
class StudiedData:
    """Data as a whole, as far as it was read within the time."""

    about: DataAbout
    rows: int
    rows_read: int
    damaged: int
    complete: bool
    """Whether every row was read."""
    order: Literal["random", "first"]
    """Which rows were, where not all."""
    fields: tuple[StudiedField, ...]
    classes: Categories | None
    empty_classes: tuple[str, ...]
    """Classes the data names, without a row."""
    by_split: Mapping[str, Categories]
    """Classes of each part the data is divided into."""
    marks: Marks | None
    repeats: Repeats
    rows_with_missing: int
    """Rows that miss a number."""
    constant: tuple[str, ...]
    """Fields with one value in all rows."""
    relations: Relations | None


@dataclass
class Study:
    """Everything that is learned of one data set."""

    data: Dataset
    seed: int = 0
    fields: dict[str, FieldStudy] = field(default_factory=dict)
    classes: CategoryStudy = field(default_factory=CategoryStudy)
    by_split: dict[str, CategoryStudy] = field(default_factory=dict)
    marks: MarkStudy = field(default_factory=MarkStudy)
    repeats: RepeatStudy = field(default_factory=RepeatStudy)
    missing_rows: int = 0
    rows: int = 0
    damaged: int = 0
    at_random: bool = False

    def __post_init__(self) -> None:
        about = self.data.about
        self.fields = {one.name: _study_of(one) for one in about.fields}
        self._numbers = [one.name for one in about.fields if one.kind == "number" and one.shape == ()]
        self.relations = RelationStudy(self._numbers)
        self._marked = False
        self._split = next((one.name for one in about.fields if one.role == "split"), "")
        self._has_classes = any(one.role == "target" and one.kind == "category" for one in about.fields)

    def run(self, time_s: float, report: Callable[[float, str], None]) -> None:
        """Reads rows until the end or for `time_s` seconds.

        Rows are taken at random where any is read as fast as the next (files of an archive), else from the start.
        """
        started = time.monotonic()
        about = self.data.about
        # Marks belong to a row with its picture; columns do not have them.
        by_row = about.any_order or any(one.kind in ("image", "mask") for one in about.fields)
        parts = self._by_row(self._order()) if by_row else self._in_parts()
        for take in parts:
            take()
            spent = time.monotonic() - started
            report(
                min(1.0, max(spent / time_s, self.rows / max(1, about.rows))), f"{self.rows:,} of {about.rows:,} rows"
            )
            if spent > time_s:
                break

    @property
    def complete(self) -> bool:
        """Whether every row was read."""
        return self.rows + self.damaged >= self.data.about.rows

    def _in_parts(self) -> Iterator[Callable[[], None]]:
        rows = self.data.about.rows
        widest = max(
            (int(np.prod([size or 1 for size in one.shape or ()])) for one in self.data.about.fields), default=1
        )
        step = max(16, min(_TABLE_ROWS, (4 << 20) // max(1, widest)))
        for start in range(0, rows, step):
            yield partial(self._table, start, min(start + step, rows))

    def _order(self) -> Sequence[int] | npt.NDArray[np.intp]:
        rows = self.data.about.rows
        self.at_random = self.data.about.any_order
        return np.random.default_rng(self.seed).permutation(rows) if self.at_random else range(rows)

    def _by_row(self, order: Sequence[int] | npt.NDArray[np.intp]) -> Iterator[Callable[[], None]]:
        for start in range(0, len(order), _SAMPLE_ROWS):
            yield partial(self._samples, sorted(int(place) for place in order[start : start + _SAMPLE_ROWS]))

    def _table(self, start: int, stop: int) -> None:
        columns = self.data.columns(start, stop)
        rows = max((len(values) for values in columns.values()), default=0)
        unread = _unread([columns[name] for name in self._inputs(columns)], rows)
        self.rows += rows - int(unread.sum())
        self.damaged += int(unread.sum())
        for one in self.data.about.fields:
            if one.name in columns:
                _feed(self.fields[one.name], range(start, stop), columns[one.name])
        self._classes_of(columns)
        self._repeats_of(np.arange(start, start + rows), columns, ~unread)
        if self._numbers and all(isinstance(columns.get(name), np.ndarray) for name in self.relations.names):
            self.relations.add(columns)

    def _samples(self, places: Sequence[int]) -> None:
        for sample in self.data.samples(places):
            if sample.problems and not sample.values and not sample.marks:
                self.damaged += 1
                continue
            self.rows += 1
            if sample.canvas:
                self._marks_of(sample)
                continue
            for name, value in sample.values.items():
                if name in self.fields:
                    _feed(self.fields[name], [sample.place], [value])
            if self._split and self._split not in sample.values:
                _feed(self.fields[self._split], [sample.place], [sample.split])
            if sample.label and self._has_classes:
                self._label(sample.label, sample.split)
            self._marks_of(sample)
            self._repeat_of(sample)

    def _label(self, label: str, split: str) -> None:
        self.classes.add([label])
        if split:
            self.by_split.setdefault(split, CategoryStudy()).add([label])

    def _marks_of(self, sample: Sample) -> None:
        self._marked = self._marked or bool(sample.marks)
        picture = next((value for value in sample.values.values() if value.ndim in (2, 3)), None)
        height, width = (0, 0) if picture is None else picture.shape[:2]
        self.marks.add(sample.place, sample.marks, width, height, None if sample.canvas else picture)

    def _repeat_of(self, sample: Sample) -> None:
        inputs = self._inputs(sample.values)
        if inputs:
            # Of pictures with marks the labels only say what was marked: equal ones do not contradict each other.
            label = numbers_of([np.array(sample.label)]) if self._has_classes else None
            numbers = combined([numbers_of([sample.values[name]]) for name in inputs])
            self.repeats.add([sample.place], numbers, label)

    def _inputs(self, values: Mapping[str, Any]) -> list[str]:
        return [one.name for one in self.data.about.fields if one.role == "input" and one.name in values]

    def _classes_of(self, columns: Mapping[str, Any]) -> None:
        about = self.data.about
        target = next((one for one in about.fields if one.role == "target"), None)
        if target is None or target.kind not in ("category", "array") or target.name not in columns:
            return
        labels = _named(columns[target.name], about.classes)
        split = next((one.name for one in about.fields if one.role == "split"), None)
        if labels is None:
            return
        self.classes.add(labels)
        for where, label in zip(columns.get(split, ()) if split else (), labels, strict=False):
            self.by_split.setdefault(str(where), CategoryStudy()).add([label])

    def _repeats_of(
        self, places: npt.NDArray[np.intp], columns: Mapping[str, Any], known: npt.NDArray[np.bool]
    ) -> None:
        inputs = self._inputs(columns)
        if not inputs:
            return
        targets = [one.name for one in self.data.about.fields if one.role == "target" and one.name in columns]
        labels = combined([numbers_of(columns[name]) for name in targets]) if targets else None
        numbers = combined([numbers_of(columns[name]) for name in inputs])
        if len(numbers) == len(known):
            self.repeats.add(places[known].tolist(), numbers[known], None if labels is None else labels[known])
        missing = np.zeros(len(places), bool)
        for name in inputs:
            values = columns[name]
            if isinstance(values, np.ndarray) and values.dtype.kind == "f" and len(values) == len(missing):
                missing |= np.isnan(values).reshape(len(values), -1).any(axis=1)
        self.missing_rows += int(missing.sum())

    def result(self) -> StudiedData:
        """What was learned."""
        about = self.data.about
        classes = self.classes.result()
        empty = [name for name in about.classes if not self.classes.count(name)] if classes.count else []
        return StudiedData(
            about=about,
            rows=about.rows,
            rows_read=self.rows,
            damaged=self.damaged,
            complete=self.complete,
            order="random" if self.at_random else "first",
            fields=tuple(
                StudiedField(one.name, one.kind, one.role, one.shape in ((), (1,)), self.fields[one.name].result())
                for one in about.fields
            ),
            classes=classes if classes.count else None,
            empty_classes=tuple(empty[:200]),
            by_split={name: study.result() for name, study in self.by_split.items()},
            marks=self.marks.result() if self._marked else None,
            repeats=self.repeats.result(),
            rows_with_missing=self.missing_rows,
            constant=tuple(
                name
                for name, study in self.fields.items()
                if isinstance(study, NumberStudy | CategoryStudy) and study.constant
            ),
            relations=self.relations.result(),
        )


def _study_of(one: DataField) -> FieldStudy:
    if one.details.get("looks_like") == "date":
        return DateStudy()
    match one.kind:
        case "image":
            return PictureStudy()
        case "mask":
            return MaskStudy()
        case "text":
            return TextStudy()
        case "tokens":
            return TokenStudy()
        case "sequence" | "audio":
            return SequenceStudy()
        case "category":
            return CategoryStudy()
    return NumberStudy()


def _feed(study: FieldStudy, places: Sequence[int], values: Any) -> None:
    """Hands the values of one field to its study: an array with the rows first, or a list of rows (None: unreadable)."""
    known = [(place, value) for place, value in zip(places, values, strict=False) if value is not None]
    if isinstance(study, PictureStudy):
        for place, value in known:
            study.add(place, np.asarray(value))
    elif isinstance(study, MaskStudy):
        for _, value in known:
            study.add(np.asarray(value))
    elif isinstance(study, NumberStudy):
        if isinstance(values, np.ndarray):
            study.add(values)
        else:
            for _, value in known:
                study.add(np.asarray(value))
    elif isinstance(study, CategoryStudy):
        study.add(_plain(value) for value in (values.tolist() if isinstance(values, np.ndarray) else values))
    elif isinstance(study, TextStudy | DateStudy):
        study.add([str(value) for _, value in known])
    else:
        study.add([np.asarray(value) for _, value in known])


def _unread(inputs: Sequence[Any], rows: int) -> npt.NDArray[np.bool]:
    """Which rows have none of their inputs, because they cannot be read."""
    lists = [values for values in inputs if isinstance(values, list) and len(values) == rows]
    if not lists or len(lists) < len(inputs):
        return np.zeros(rows, bool)
    return np.array([all(values[row] is None for values in lists) for row in range(rows)], bool)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.item() if value.size == 1 else str(value.tolist())
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _named(values: npt.NDArray[Any] | Sequence[Any], classes: Sequence[str]) -> list[str] | None:
    """Labels in words; None where the target is a quantity rather than a class."""
    array = np.asarray(values)
    if array.dtype.kind in "US":
        return [str(value) for value in array.ravel()]
    if array.dtype.kind == "f" and not bool((array[np.isfinite(array)] == np.rint(array[np.isfinite(array)])).all()):
        return None
    if array.ndim == 2 and array.shape[1] > 1 and bool((array.sum(axis=1) == 1).all()):
        array = array.argmax(axis=1)
    if array.ndim > 1 and array.size != len(array):
        return None
    found = []
    for value in array.ravel().tolist():
        number = int(value) if isinstance(value, bool) or (isinstance(value, int | float) and value == value) else None  # noqa: PLR0124
        named = number is not None and 0 <= number < len(classes)
        found.append(classes[number] if named and number is not None else "" if number is None else str(number))
    return found
