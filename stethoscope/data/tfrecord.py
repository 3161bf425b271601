"""TFRecord files of tf.train.Example or SequenceExample, single or in shards: features as fields, boxes as marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from stethoscope.data.dataset import DataAbout, Mark
from stethoscope.data.members import open_members
from stethoscope.data.streams.text_source import is_single
from stethoscope.data.streams.tf_records import Feature, RecordFile, read_example
from stethoscope.data.survey import ProblemList, split_in_stem, survey
from stethoscope.data.tables.field_rows import Column, FieldRows, stacked, text_array
from stethoscope.data.tables.tf_features import (
    ExampleFields,
    box_prefix,
    box_problems,
    boxes,
    fields_of,
    picture_of,
    read_label_map,
)
from stethoscope.errors import StethoscopeError, UnreadableFile
from stethoscope.types import ModelFile

_SUFFIXES = (".tfrecord", ".tfrecords", ".record", ".records", ".tfrec", ".tf_record")
_SHARD = (".tfrecord-", ".tfrecords-", ".record-", ".tfrec-")
_FOUND_AT_ONCE = 20_000
"""Records looked for when the file is opened; how many more there are is estimated by their size."""
_LOOKED_AT, _LOOKED_AT_BYTES = 2_000, 48 << 20
_TRIED = 5
"""Records looked at to recognise the file: the first may be damaged."""
_LABEL_MAP_BYTES = 4 << 20


class TFRecordReader:
    """Reads records of tf.train.Example."""

    id = "tfrecord"
    title = "TFRecord of tf.train.Example"
    extensions = _SUFFIXES
    priority = 15

    def sniff(self, file: ModelFile) -> bool:
        """Whether the first record is an Example; an event file's is none."""
        with ExitStack() as opened:
            try:
                name = file.name if is_single(file) else next(iter(_shards(survey(file).names)), "")
                if not name:
                    return False
                records = RecordFile(file, name, opened)
                records.find(_TRIED)
                found = records.read(range(len(records)))
                return any(not problem and read_example(payload) is not None for payload, problem in found.values())
            except (StethoscopeError, OSError):
                return False

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> TFRecordData:
        """Opens the records; see `DataReader.open`. options: {"target": feature or "none"}."""
        with ExitStack() as opened:
            data = TFRecordData(file, budget_bytes, options, opened)
            data.opened = opened.pop_all()
        return data


class TFRecordData(FieldRows):
    """Records of one or several files, in order."""

    def __init__(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any], opened: ExitStack) -> None:
        self._file, self._budget = file, budget_bytes
        self._problems = ProblemList()
        self._sizes: dict[str, int] = {}
        self._files, self._label_map = self._opened(opened)
        self._said: dict[int, list[str]] = {}
        self._marks: dict[int, tuple[Mark, ...]] = {}
        self._find(_FOUND_AT_ONCE)
        examples = self._first_examples()
        self._fields: ExampleFields = fields_of(file.name, examples, options)
        self._prefix = box_prefix(list(examples[0]) if examples else [])
        self.about = self._described()

    def columns(self, start: int, stop: int, names: Sequence[str] | None = None) -> Mapping[str, Column]:
        """See `Dataset.columns`."""
        self._reach(stop)
        rows = [self._row(place, payload, problem, names) for place, (payload, problem) in self._read(start, stop)]
        wanted = [field.name for field in self.about.fields if names is None or field.name in names]
        return {
            name: _column([row.get(name) for row in rows], self._fields.texts)
            if name in self._fields.texts
            else stacked([row.get(name) for row in rows])
            for name in wanted
        }

    def row_problems(self, start: int, stop: int) -> Mapping[int, Sequence[str]]:
        """What was found wrong with these rows when they were read."""
        return {place: said for place, said in self._said.items() if start <= place < stop}

    def marks_of(self, values: Mapping[str, Column], place: int) -> tuple[Mark, ...]:
        """The boxes of one record."""
        if self._prefix is None:
            return ()
        height, width = picture_of(values, self._fields)
        if not height or not width:
            return ()
        return boxes(values, self._prefix, height, width, self._label_map)

    def name_of(self, values: Mapping[str, Column], place: int) -> str:
        """The file's name in the record."""
        for name in ("image/filename", "filename", "file_name", "name", "image/source_id"):
            if name in self._fields.texts and name in values:
                return str(values[name])[:200]
        return ""

    def split_of(self, place: int) -> str:
        """Of several files: the split in the file's name or folder."""
        if len(self.about.splits) < 2:
            return ""
        for records in self._files:
            if place < len(records):
                return split_in_stem(records.name)
            place -= len(records)
        return ""

    def _opened(self, opened: ExitStack) -> tuple[list[RecordFile], dict[int, str]]:
        if is_single(self._file):
            self._sizes[self._file.name] = self._file.path.stat().st_size
            return [RecordFile(self._file, self._file.name, opened)], {}
        found: list[RecordFile] = []
        classes: dict[int, str] = {}
        with open_members(self._file) as members:
            for name in members.names:
                if name.lower().endswith(".pbtxt") and members.size(name) <= _LABEL_MAP_BYTES:
                    classes |= read_label_map(members.read(name).decode("utf-8", "replace"))
            self._sizes = {name: members.size(name) for name in _shards(members.names)}
        for name in self._sizes:
            found.append(RecordFile(self._file, name, opened))
        return sorted(found, key=lambda one: (split_in_stem(one.name) not in ("", "train"), one.name)), classes

    def _find(self, count: int) -> None:
        for records in self._files:
            before = len(records)
            records.find(max(before, count))
            count -= len(records)
            if records.ended and records.damage and records.name not in self._broken():
                self._problems.add(f"end {records.name}", records.name, records.damage)
            if count <= 0:
                return

    def _broken(self) -> set[str]:
        return {problem.where for problem in self._problems.kept}

    def _reach(self, stop: int) -> None:
        if self.about.rows_exact or stop <= sum(map(len, self._files)):
            return
        self._find(stop)
        self.about = replace(self._described())

    def _read(self, start: int, stop: int) -> list[tuple[int, tuple[bytes, str]]]:
        found, before = [], 0
        for records in self._files:
            first, last = max(start - before, 0), min(stop - before, len(records))
            if first < last:
                read = records.read(range(first, last))
                found += [(before + number, read[number]) for number in sorted(read)]
            before += len(records)
        return found

    def _row(self, place: int, payload: bytes, problem: str, names: Sequence[str] | None) -> dict[str, Any]:
        said = [problem] if problem else []
        example = None if problem else read_example(payload)
        if example is None and not problem:
            said.append("The record is no tf.train.Example.")
        row: dict[str, Any] = {}
        if example is not None:
            row, wrong = self._fields.values(example, f"row {place + 1:,}", self._budget // 8, names)
            said += wrong
            if self._prefix is not None and names is None:
                said += box_problems(example, self._prefix)
        if said:
            self._said[place] = said
        return row

    def _first_examples(self) -> list[dict[str, Feature]]:
        found, held = [], 0
        for place, (payload, problem) in self._read(0, min(_LOOKED_AT, sum(map(len, self._files)))):
            example = None if problem else read_example(payload)
            if example is not None:
                found.append(example)
            elif len(found) < 50:
                self._problems.add("record", f"row {place + 1:,}", problem or "The record is no tf.train.Example.")
            held += len(payload)
            if held > _LOOKED_AT_BYTES:
                break
        if not found:
            raise UnreadableFile(
                f"{self._file.name}: expected records of tf.train.Example, got none that can be read. Write it again."
            )
        return found

    def _described(self) -> DataAbout:
        exact = all(records.ended for records in self._files)
        rows = sum(map(len, self._files))
        if not exact:
            seen = sum(records.found_bytes for records in self._files)
            rows = max(rows, round(rows * sum(self._sizes.values()) / max(1, seen)))
        splits = tuple(dict.fromkeys(split for records in self._files if (split := split_in_stem(records.name))))
        classes = self._fields.classes
        if self._prefix is not None and not classes:
            classes = tuple(name for _, name in sorted(self._label_map.items()))
        return DataAbout(
            READER.id,
            READER.title,
            rows,
            exact,
            self._fields.fields,
            classes,
            splits if len(splits) > 1 else (),
            self._problems.kept,
            self._problems.count,
            self._fields.notes,
        )


def _column(rows: Sequence[Any], _texts: frozenset[str]) -> Column:
    """A column of text; rows that cannot be read stay apart."""
    if any(row is None for row in rows):
        return list(rows)
    return text_array([str(row[()]) for row in rows])


def _shards(names: Sequence[str]) -> list[str]:
    return [
        name
        for name in names
        if name.lower().removesuffix(".gz").endswith(_SUFFIXES) or any(mark in name.lower() for mark in _SHARD)
    ]


READER = TFRecordReader()
