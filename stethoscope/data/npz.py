"""NumPy archives: .npz and .npy, read by rows in place; headers are checked first, pickles are never read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import IO, Any

import numpy as np

from stethoscope.data import dataset
from stethoscope.data.dataset import MAX_PROBLEMS, DataAbout, DataField, Problem
from stethoscope.data.streams.numpy_rows import MAGIC, ArrayRows, is_npy
from stethoscope.data.survey import survey
from stethoscope.data.tables.field_rows import Column, FieldRows, one_hot_details
from stethoscope.data.tables.table_guesses import channels_first, kind_of, role_of
from stethoscope.errors import BadSetting, OverBudget, TooLarge, UnreadableFile
from stethoscope.models.containers.archive import Archive, open_archive
from stethoscope.types import Feed, ModelFile

_PART = re.compile(
    r"(?:(.+?)_(train|training|test|val|valid|validation)|(train|training|test|val|valid|validation)_(.+))"
)
_PART_NAME = {"training": "train", "valid": "val", "validation": "val"}
_SPLITS = ("train", "val", "test")
_LOOKED_AT = 256
"""Rows from which kinds are guessed."""
_LOOKED_AT_BYTES = 16 << 20
_TITLE = "NumPy arrays"


class NumpyReader:
    """Reads arrays by name; a lone .npy is called "x"."""

    id = "numpy"
    title = "NumPy arrays (.npz, .npy)"
    extensions = (".npz", ".npy")
    priority = 20

    def sniff(self, file: ModelFile) -> bool:
        """Whether the content is a .npy, or a zip that holds some at its top and nothing else."""
        if file.path.is_dir():
            return False
        with file.path.open("rb") as stream:
            head = stream.read(6)
        if head == MAGIC:
            return True
        if not head.startswith(b"PK\x03\x04"):
            return False
        arrays = survey(file).ending(".npy")
        return file.suffix == ".npz" or (bool(arrays) and not any("/" in name for name in arrays))

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> NumpyData:
        """Opens the arrays; see `DataReader.open`. options: {"target": array name or "none"}."""
        with ExitStack() as opened:
            arrays, problems = _arrays(file, budget_bytes, opened)
            data = NumpyData(file, arrays, budget_bytes, options, problems)
            data.opened = opened.pop_all()
        return data


class NumpyData(FieldRows):
    """The arrays with as many rows as the largest are the fields of one table; others are kept aside."""

    def __init__(
        self,
        file: ModelFile,
        arrays: Mapping[str, ArrayRows],
        budget_bytes: int,
        options: Mapping[str, Any],
        problems: Sequence[Problem] = (),
    ) -> None:
        self._problems = tuple(problems)
        self._file, self._arrays, self._budget = file, dict(arrays), budget_bytes
        self._target = _chosen_target(file, options, arrays)
        self._parts = _parts(self._arrays)
        self.about = self._described()

    def columns(self, start: int, stop: int, names: Sequence[str] | None = None) -> Mapping[str, Column]:
        """See `Dataset.columns`."""
        wanted = [field.name for field in self.about.fields if names is None or field.name in names]
        return {name: self._rows(name, start, stop) for name in wanted}

    def whole(self) -> Feed:
        """Every array by its own name, whatever its rows."""
        total = sum(array.header.bytes for array in self._arrays.values())
        if total > self._budget:
            raise OverBudget(
                f"{self._file.name}: its arrays declare {total:,} bytes, the limit is {self._budget:,}. Send fewer rows.",
                total,
            )
        feed = {name: array.all() for name, array in self._arrays.items()}
        if self._target == "none":
            return {name: array for name, array in feed.items() if role_of(name) != "target"}
        if self._target:
            others = {name: array for name, array in feed.items() if role_of(name) != "target" and name != self._target}
            return {**others, "y": feed[self._target]}
        return feed

    def split_of(self, place: int) -> str:
        """Of x_train and x_test: "train" or "test"."""
        for split, (_, rows) in self._parts.items():
            if place < rows:
                return split
            place -= rows
        return ""

    def _rows(self, name: str, start: int, stop: int) -> Column:
        pieces, before = [], 0
        for names, rows in self._parts.values():
            first, last = max(start - before, 0), min(stop - before, rows)
            if first < last and name in names:
                pieces.append(self._arrays[names[name]].between(first, last))
            before += rows
        if not pieces:
            return np.zeros((0,))
        joined = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        return joined.reshape(1) if joined.ndim == 0 else joined

    def _described(self) -> DataAbout:
        names, rows = next(iter(self._parts.values()))
        fields = tuple(self._field(name, self._arrays[own]) for name, own in names.items())
        used = {own for part, _ in self._parts.values() for own in part.values()}
        aside = [f"{name!r} {array.header.shape}" for name, array in self._arrays.items() if name not in used]
        notes = []
        if aside:
            more = f" and {len(aside) - 5} more" if len(aside) > 5 else ""
            notes.append(f"Not shown, because their rows are not those of the others: {', '.join(aside[:5])}{more}.")
        problems = self._problems + tuple(
            Problem(name, f"Declares {array.header.rows:,} rows, the file ends after {array.rows:,}.")
            for name, array in self._arrays.items()
            if array.missing_rows
        )
        rows = sum(count for _, count in self._parts.values())
        return DataAbout(
            READER.id,
            _TITLE,
            rows,
            True,
            fields,
            self._classes(fields),
            tuple(split for split in self._parts if split),
            problems[:MAX_PROBLEMS],
            len(problems),
            tuple(notes),
        )

    def _field(self, name: str, array: ArrayRows) -> DataField:
        shape = array.header.shape[1:]
        looked = max(1, min(_LOOKED_AT, _LOOKED_AT_BYTES // max(1, array.header.row_bytes)))
        role = role_of(name)
        if self._target:
            role = "target" if name == self._target else "input" if role == "target" else role
        details: dict[str, Any] = {}
        try:
            first = array.between(0, looked)
            kind = kind_of(name, shape, first, role)
            details = one_hot_details(role, first)
        except (TooLarge, UnreadableFile):
            kind = "array"
        if kind == "mask" and role == "input" and not self._target and all(map(_is_no_target, self._arrays)):
            role = "target"
        if kind == "image":
            first_axis = channels_first(shape)
            details = {"channels": shape[0] if first_axis else shape[2] if len(shape) == 3 else 1}
            details |= {"channels_first": True} if first_axis else {}
        dtype = "string" if array.header.dtype.kind in "US" else array.header.dtype.name
        return DataField(name, kind, dtype, shape, role, details=details)

    def _classes(self, fields: Sequence[DataField]) -> tuple[str, ...]:
        for name in ("class_names", "classes", "label_names", "labels_names", "target_names"):
            array = self._arrays.get(name)
            if array is not None and array.header.dtype.kind in "US" and array.rows <= dataset.MAX_CLASSES:
                return tuple(str(value) for value in array.all().reshape(-1))
        target = next((field for field in fields if field.role == "target"), None)
        if target is None or target.dtype != "string" or target.kind != "category":
            return ()
        labels = set()
        for names, rows in self._parts.values():
            if target.name in names:
                labels |= {str(value) for value in self._arrays[names[target.name]].between(0, rows).reshape(-1)}
        return tuple(sorted(labels))[: dataset.MAX_CLASSES]


def _is_no_target(name: str) -> bool:
    match = _PART.fullmatch(name)
    return role_of(name if match is None else match[1] or match[4]) != "target"


def _arrays(file: ModelFile, budget_bytes: int, opened: ExitStack) -> tuple[dict[str, ArrayRows], list[Problem]]:
    """The arrays by name, and what is wrong with those that cannot be read beside others that can."""
    if is_npy(file.path):
        stream: IO[bytes] = opened.enter_context(file.path.open("rb"))
        return {"x": ArrayRows(file.name, stream, file.path.stat().st_size, budget_bytes)}, []
    with file.path.open("rb") as start:
        if not start.read(4).startswith(b"PK\x03\x04"):
            raise UnreadableFile(
                f"{file.name}: expected a NumPy .npz or .npy, got other content. Save it with numpy.savez."
            )
    archive = opened.enter_context(open_archive(file, dataset.MAX_MEMBERS))
    names = [name for name in archive.names if name.endswith(".npy")]
    if not names:
        raise UnreadableFile(f"{file.name}: holds no .npy arrays. Save it with numpy.savez(path, x=…).")
    if len(names) > dataset.MAX_COLUMNS:
        raise TooLarge(f"{file.name}: holds {len(names):,} arrays, expected at most {dataset.MAX_COLUMNS:,}.")
    arrays: dict[str, ArrayRows] = {}
    problems: list[Problem] = []
    for name in names:
        try:
            arrays[name.removesuffix(".npy")] = _member(file, archive, name, budget_bytes, opened)
        except UnreadableFile as error:
            problems.append(Problem(name, str(error)))
    if not arrays:
        raise UnreadableFile(problems[0].sentence)
    return arrays, problems


def _member(file: ModelFile, archive: Archive, name: str, budget_bytes: int, opened: ExitStack) -> ArrayRows:
    stream = opened.enter_context(archive.open(name))
    return ArrayRows(f"{file.name}: {name}", stream, archive.members[name].size_bytes, budget_bytes)


def _chosen_target(file: ModelFile, options: Mapping[str, Any], arrays: Mapping[str, ArrayRows]) -> str:
    target = str(options.get("target") or "")
    if target in ("", "none") or target in arrays:
        return target
    raise BadSetting(
        f"Target {target!r}: expected an array of {file.name} ({', '.join(list(arrays)[:20])}). Choose one."
    )


def _parts(arrays: Mapping[str, ArrayRows]) -> dict[str, tuple[dict[str, str], int]]:
    """By split ("" where there is one): the fields' names with the arrays that hold them, and the rows."""
    by_split: dict[str, dict[str, str]] = {}
    for name in arrays:
        match = _PART.fullmatch(name)
        if match is None:
            by_split.setdefault("", {})[name] = name
            continue
        base, split = (match[1], match[2]) if match[1] else (match[4], match[3])
        by_split.setdefault(_PART_NAME.get(split, split), {})[base] = name
    named = {split: names for split, names in by_split.items() if split}
    if named and "train" not in named and "x" in by_split.get("", {}):
        named = {"train": by_split[""], **named}
    if len(named) > 1:
        order = sorted(named, key=_SPLITS.index)
        made = {split: _same_rows(named[split], arrays) for split in order}
        first = next(iter(made.values()))[0]
        if all(_alike(first, names, arrays) for names, _ in made.values()):
            return made
    return {"": _same_rows({name: name for name in arrays}, arrays)}


def _alike(first: Mapping[str, str], second: Mapping[str, str], arrays: Mapping[str, ArrayRows]) -> bool:
    return set(first) == set(second) and all(
        arrays[first[name]].header.shape[1:] == arrays[second[name]].header.shape[1:] for name in first
    )


def _same_rows(names: Mapping[str, str], arrays: Mapping[str, ArrayRows]) -> tuple[dict[str, str], int]:
    """Those of `names` with the rows of the most arrays; of several such, of the largest."""
    counts = Counter(arrays[own].rows for own in names.values() if arrays[own].header.shape)
    if not counts:
        return dict(names), 1
    weight = Counter[int]()
    for own in names.values():
        weight[arrays[own].rows] = max(weight[arrays[own].rows], arrays[own].header.bytes)
    rows = max(counts, key=lambda count: (counts[count], weight[count]))
    return {name: own for name, own in names.items() if arrays[own].rows == rows and arrays[own].header.shape}, rows


READER = NumpyReader()
