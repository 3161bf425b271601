"""Tables of text: .csv and .tsv, plain or compressed, one file or several of the same columns in a folder or archive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from stethoscope.data import dataset
from stethoscope.data.dataset import DataAbout
from stethoscope.data.streams.text_source import head_of, is_single, names_ending
from stethoscope.data.survey import split_in_stem, survey
from stethoscope.data.tables.csv_stream import CsvStream, Reading, reading_of
from stethoscope.data.tables.field_rows import Column, FieldRows
from stethoscope.data.tables.table_fields import TableFields, classes_of, table_fields
from stethoscope.data.tables.table_guesses import delimiter_of, encoding_of
from stethoscope.errors import BadSetting, StethoscopeError
from stethoscope.types import ModelFile

if TYPE_CHECKING:
    import pyarrow

_SUFFIXES = (".csv", ".tsv", ".tab")
_FIRST_BYTES = 16 << 20
"""Read when the table is opened: 100,000 rows of 20 columns are about 15 MB."""
_OFFSET_BYTES = 4
_SHARE = 4
"""The part of the budget that the text of the rows may take; numbers made of it take as much again."""


class CsvReader:
    """Reads tables of text."""

    id = "csv"
    title = "CSV table"
    extensions = (*_SUFFIXES, ".gz")
    priority = 70

    def sniff(self, file: ModelFile) -> bool:
        """Whether every line has as many cells as the others; of archives, whether they hold tables and no images."""
        if not is_single(file):
            found = survey(file)
            return bool(names_ending(file, _SUFFIXES)) and not found.images
        head = head_of(file)
        if not head or head.lstrip()[:1] in (b"{", b"<"):
            return False
        try:
            encoding = encoding_of(file.name, head, whole=False)
        except StethoscopeError:
            return False
        text = head.decode(encoding, errors="replace")
        if any(ord(character) < 9 for character in text[:4096]):
            return False
        named = file.name.lower().removesuffix(".gz").endswith(_SUFFIXES)
        if named:
            return True
        delimiter = delimiter_of(text, whole=len(head) < 64 << 10)
        return delimiter in ("\t", ";", "|") or (delimiter == "," and _like_a_table(text))

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> CsvData:
        """Opens the table; see `DataReader.open`. options: {"target", "delimiter", "header", "encoding", "file"}."""
        return CsvData(file, budget_bytes, options)


class CsvData(FieldRows):
    """The rows read so far; more are read when they are asked for, up to what memory allows."""

    def __init__(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> None:
        self._file, self._options = file, dict(options)
        self._stream, self._left_out = _chosen(file, options, max(_FIRST_BYTES, budget_bytes // _SHARE))
        self._parts: Iterator[tuple[str, pyarrow.RecordBatch]] | None = self._stream.parts()
        self._batches: list[pyarrow.RecordBatch] = []
        self._starts: list[int] = [0]
        self._of: list[str] = []
        self._rows = 0
        self._text_bytes = 0
        self._read_on(lambda: self._stream.read_bytes < _FIRST_BYTES)
        self._readings = self._decide()
        self._made = self._fields()
        self.about = self._described()

    def columns(self, start: int, stop: int, names: Sequence[str] | None = None) -> Mapping[str, Column]:
        """See `Dataset.columns`."""
        if stop > self._rows and self._parts is not None:
            before = self._rows
            self._read_on(lambda: self._rows < stop)
            self._made = replace(self._made, classes=self._classes_since(before))
            self.about = self._described()
        return {
            name: reading.values(self._text(name, start, stop))
            for name, reading in self._readings.items()
            if names is None or name in names
        }

    def split_of(self, place: int) -> str:
        """Of several files: which one a row comes from, by its name."""
        if len(set(self._of)) < 2:
            return ""
        at = int(np.searchsorted(self._starts, place, side="right")) - 1
        return _split_name(self._of[at]) if at < len(self._of) else ""

    def close(self) -> None:
        """Lets go of the rows."""
        self._parts, self._batches = None, []

    def _read_on(self, wanted: Any) -> None:
        while self._parts is not None and wanted():
            found = next(self._parts, None)
            if found is None:
                self._parts = None
                return
            name, batch = found
            self._of.append(name)
            self._batches.append(batch)
            self._rows += batch.num_rows
            # The parser reads ahead of the rows it has given: their own text tells better how large they are.
            self._text_bytes += batch.nbytes - _OFFSET_BYTES * batch.num_rows * batch.num_columns
            self._text_bytes += batch.num_rows * batch.num_columns
            self._starts.append(self._rows)

    def _text(self, name: str, start: int, stop: int) -> pyarrow.ChunkedArray:
        import pyarrow

        place = self._stream.columns.index(name)
        pieces = []
        for at, batch in enumerate(self._batches):
            first, last = max(start - self._starts[at], 0), min(stop - self._starts[at], batch.num_rows)
            if first < last:
                pieces.append(batch.column(place).slice(first, last - first))
        return pyarrow.chunked_array(pieces, type=pyarrow.string())

    def _decide(self) -> dict[str, Reading]:
        readings = {}
        for name in self._stream.columns:
            text = self._text(name, 0, self._rows)
            readings[name] = reading_of(text, self._stream.decimal)
            for row, cell in readings[name].bad_cells:
                self._stream.problems.add(
                    f"cell {name}",
                    f"row {row + 1:,}",
                    f"Column {name!r}: expected a number, got {cell[:60]!r}; it counts as missing.",
                )
        return readings

    def _fields(self) -> TableFields:
        looked = {name: reading.values(self._text(name, 0, self._rows)) for name, reading in self._readings.items()}
        return table_fields(self._file.name, looked, self._options)

    def _classes_since(self, row: int) -> tuple[str, ...]:
        """The classes, and behind them those that came up from `row` on, so that no class changes its number."""
        known = self._made.classes
        target = next(
            (field for field in self._made.fields if field.role == "target" and field.kind == "category"), None
        )
        if target is None or self._readings[target.name].dtype != "string":
            return known
        later = classes_of(self._readings[target.name].values(self._text(target.name, row, self._rows)))
        return (*known, *(name for name in later if name not in set(known)))[: dataset.MAX_CLASSES]

    def _described(self) -> DataAbout:
        made = self._made
        kept = self._stream.problems
        notes = [*made.notes]
        if self._left_out:
            notes.append(f"Not read, because their columns differ: {', '.join(self._left_out[:5])}.")
        rows, exact = self._rows, self._parts is None and not self._stream.cut
        if not exact and self._parts is not None:
            rows = max(rows, round(rows * self._whole_bytes() / max(1, self._text_bytes)))
        elif not exact:
            notes.append(f"Only the first {rows:,} rows are read: more do not fit the memory allowed.")
        splits = tuple(dict.fromkeys(map(_split_name, self._of))) if len(set(self._of)) > 1 else ()
        return DataAbout(
            READER.id, READER.title, rows, exact, made.fields, made.classes, splits, kept.kept, kept.count, tuple(notes)
        )

    def _whole_bytes(self) -> int:
        if self._file.path.is_file() and not self._file.name.lower().endswith((".gz", ".zip")):
            return self._file.path.stat().st_size
        return self._text_bytes * 2


def _chosen(file: ModelFile, options: Mapping[str, Any], limit_bytes: int) -> tuple[CsvStream, list[str]]:
    """The files that are one table, and those left out."""
    names = names_ending(file, _SUFFIXES) or [file.name]
    asked = options.get("file")
    if asked:
        if asked not in names:
            raise BadSetting(f"File {str(asked)[:80]!r}: expected a table of {file.name} ({', '.join(names[:10])}).")
        return CsvStream(file, [str(asked)], options, limit_bytes), []
    streams: dict[str, CsvStream] = {}
    failed: list[str] = []
    first_error: StethoscopeError | None = None
    for name in names[:_MOST_FILES]:
        try:
            streams[name] = CsvStream(file, [name], options, limit_bytes)
        except StethoscopeError as error:
            first_error = first_error or error
            failed.append(name)
    if not streams:
        assert first_error is not None, "there is at least one name"
        raise first_error
    if len(streams) == 1:
        return next(iter(streams.values())), failed
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, stream in streams.items():
        groups.setdefault(stream.columns, []).append(name)
    # A table to learn from has its target, one to hand in has not: of equally many files, the one with more columns.
    best = max(groups, key=lambda columns: (len(groups[columns]), "train" in groups[columns][0].lower(), len(columns)))
    kept = sorted(groups[best], key=lambda name: ("train" not in name.lower(), name))
    left_out = [name for name in names if name not in kept]
    return CsvStream(file, kept, options, limit_bytes), left_out


_MOST_FILES = 200


def _split_name(name: str) -> str:
    return split_in_stem(name) or PurePosixPath(name).stem


def _like_a_table(text: str) -> bool:
    """Whether a text with commas is a table rather than prose: short cells, no blanks after most commas."""
    lines = [line for line in text.splitlines()[:50] if line]
    if len(lines) < 2:
        return False
    commas = sum(line.count(",") for line in lines)
    return commas > 0 and sum(line.count(", ") for line in lines) < commas / 2


READER = CsvReader()
