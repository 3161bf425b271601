"""Parquet tables, one file or several of the same columns; row groups are read in place, when they are asked for."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import IO, Any

from stethoscope.data import dataset
from stethoscope.data.dataset import DataAbout, Problem
from stethoscope.data.members import Members, open_members
from stethoscope.data.survey import split_in_stem, survey
from stethoscope.data.tables.arrow_columns import class_names, column_of, details_of
from stethoscope.data.tables.field_rows import Column, FieldRows
from stethoscope.data.tables.table_fields import table_fields
from stethoscope.errors import StethoscopeError, TooLarge, UnreadableFile
from stethoscope.types import ModelFile

_MAGIC = b"PAR1"
_SUFFIXES = (".parquet", ".pq")
_LOOKED_AT = 20_000
_LOOKED_AT_BYTES = 64 << 20
_ROWS_AT_ONCE = 1_024


class ParquetReader:
    """Reads Parquet tables."""

    id = "parquet"
    title = "Parquet table"
    extensions = _SUFFIXES
    priority = 25

    def sniff(self, file: ModelFile) -> bool:
        """Whether the content is Parquet, or an archive or folder that holds some and no images."""
        if file.path.is_file():
            with file.path.open("rb") as stream:
                if stream.read(4) == _MAGIC:
                    return True
        found = survey(file)
        return bool(found.ending(*_SUFFIXES)) and not found.images

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> ParquetData:
        """Opens the table; see `DataReader.open`. options: {"target": column or "none"}."""
        with ExitStack() as opened:
            data = ParquetData(file, budget_bytes, options, opened)
            data.opened = opened.pop_all()
        return data


class ParquetData(FieldRows):
    """Row groups of one or several files, in order."""

    def __init__(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any], opened: ExitStack) -> None:
        self._file, self._budget = file, budget_bytes
        self._problems: list[Problem] = []
        self._files = self._opened(opened)
        self._groups = _groups(self._files)
        self._loaded: tuple[int, int, Any] = (0, 0, None)
        self._row_problems: dict[int, list[str]] = {}
        self.about = self._described(options)

    def columns(self, start: int, stop: int, names: Sequence[str] | None = None) -> Mapping[str, Column]:
        """See `Dataset.columns`."""
        stop = min(stop, self.about.rows)
        wanted = [field for field in self.about.fields if names is None or field.name in names]
        table = self._table(start, stop, [field.name for field in wanted])
        found: dict[str, Column] = {}
        for field in wanted:
            known = {"kind": field.kind}
            found[field.name], bad = self._column(table, field.name, known)
            for row, sentence in bad.items():
                said = self._row_problems.setdefault(start + row, [])
                if sentence not in said:
                    said.append(sentence)
        return found

    def row_problems(self, start: int, stop: int) -> Mapping[int, Sequence[str]]:
        """Images and sounds of these rows that cannot be decoded."""
        return {row: said for row, said in self._row_problems.items() if start <= row < stop}

    def split_of(self, place: int) -> str:
        """Of several files: the split in the file's name."""
        return next((split for first, last, _, _, split in self._groups if first <= place < last), "")

    def _opened(self, opened: ExitStack) -> dict[str, Any]:
        from pyarrow import parquet

        members = opened.enter_context(open_members(self._file))
        names = [name for name in members.names if name.lower().endswith(_SUFFIXES)] or list(members.names)
        found: dict[str, Any] = {}
        for name in names:
            try:
                found[name] = parquet.ParquetFile(_seekable(members, name, self._budget // 4, opened))
            except damage(StethoscopeError) as error:
                text = _gist(error)
                if len(names) == 1:
                    raise UnreadableFile(
                        f"{self._file.name}: expected a Parquet table, got “{text}”. Save it again."
                    ) from error
                self._problems.append(Problem(name, f"Cannot be read ({text})."))
        if not found:
            raise UnreadableFile(
                f"{self._file.name}: none of its {len(names):,} Parquet files can be read. Save them again."
            )
        return _alike(found, self._problems)

    def _table(self, start: int, stop: int, names: Sequence[str]) -> Any:
        import pyarrow

        pieces = []
        for first, last, file, group, _ in self._groups:
            if first < stop and start < last:
                pieces.append(self._group(file, group, names, max(start, first) - first, min(stop, last) - first))
        schema = next(iter(self._files.values())).schema_arrow
        if not pieces:
            return schema.empty_table().select(list(names))
        return pyarrow.concat_tables([piece.select(list(names)) for piece in pieces], promote_options="permissive")

    def _group(self, file: Any, group: int, names: Sequence[str], start: int, stop: int) -> Any:
        """Rows `start` to `stop` of a row group, read as a stream of batches: a group may be as large as its file."""
        import pyarrow

        batches, before, held = [], 0, 0
        try:
            for batch in file.iter_batches(_ROWS_AT_ONCE, row_groups=[group], columns=list(names), use_threads=False):
                first, last = max(start - before, 0), min(stop - before, batch.num_rows)
                if first < last:
                    piece = batch.slice(first, last - first)
                    held += piece.nbytes
                    if held > self._budget:
                        raise TooLarge(
                            f"{self._file.name}: {stop - start:,} rows take more than the {self._budget:,} bytes allowed. Read fewer."
                        )
                    batches.append(piece)
                before += batch.num_rows
                if before >= stop:
                    break
        except damage() as error:
            text = _gist(error)
            raise UnreadableFile(
                f"{self._file.name}: row group {group + 1} is damaged ({text}). Save it again."
            ) from error
        return pyarrow.Table.from_batches(batches, schema=None if batches else file.schema_arrow)

    def _column(self, table: Any, name: str, details: Mapping[str, Any]) -> tuple[Column, dict[int, str]]:
        try:
            return column_of(table.column(name), details, repr(name), self._budget // 8)
        except damage() as error:
            raise UnreadableFile(
                f"{self._file.name}: column {name!r} is damaged ({_gist(error)}). Save it again."
            ) from error

    def _described(self, options: Mapping[str, Any]) -> DataAbout:
        first = next(iter(self._files.values()))
        schema, rows = first.schema_arrow, self._groups[-1][1] if self._groups else 0
        if len(schema.names) > dataset.MAX_COLUMNS:
            raise TooLarge(
                f"{self._file.name}: has {len(schema.names):,} columns, expected at most {dataset.MAX_COLUMNS:,}."
            )
        names = list(dict.fromkeys(schema.names))
        self.about = DataAbout(READER.id, READER.title, rows, True, ())
        per_row = sum(group_bytes(file) for file in self._files.values()) / max(1, rows)
        table = self._table(0, min(rows, _LOOKED_AT, max(16, int(_LOOKED_AT_BYTES / max(1.0, per_row)))), names)
        details = {name: details_of(table.column(name)) for name in names}
        looked = {
            # What is media is decoded when it is looked at, one row is enough to see its form.
            name: self._column(table.slice(0, 4) if details[name] else table, name, details[name])[0]
            for name in names
        }
        made = table_fields(self._file.name, looked, options, details)
        named = class_names(schema.metadata)
        target = next((field for field in made.fields if field.role == "target"), None)
        classes = named.get(target.name, made.classes) if target else ()
        splits = tuple(dict.fromkeys(split for *_, split in self._groups if split))
        return DataAbout(
            READER.id,
            READER.title,
            rows,
            True,
            made.fields,
            classes,
            splits if len(splits) > 1 else (),
            tuple(self._problems[:50]),
            len(self._problems),
            made.notes,
        )


def damage(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """What pyarrow raises for damaged files; most are Python's own errors."""
    import pyarrow

    return (
        *more,
        pyarrow.ArrowException,
        OSError,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        NotImplementedError,
        OverflowError,
    )


def _gist(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def group_bytes(file: Any) -> int:
    """Bytes of a file's rows when they are not compressed."""
    return sum(int(file.metadata.row_group(group).total_byte_size) for group in range(file.metadata.num_row_groups))


def _seekable(members: Members, name: str, limit_bytes: int, opened: ExitStack) -> IO[bytes]:
    """A member as a file to jump about in: compressed ones are held whole."""
    stream = opened.enter_context(members.open(name))
    if isinstance(stream, io.BufferedReader | io.FileIO):
        return stream
    return io.BytesIO(members.read(name, limit_bytes))


def _alike(files: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """Those with the columns of the most, training rows before others."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, file in files.items():
        alike.setdefault(tuple(file.schema_arrow.names), []).append(name)
    names = list(max(alike.items(), key=lambda item: len(item[1]))[0])
    ordered = sorted(files, key=lambda name: (split_in_stem(name) not in ("", "train"), name))
    kept = {name: files[name] for name in ordered if files[name].schema_arrow.names == names}
    problems.extend(
        Problem(name, "Has other columns than the other files; it is left out.") for name in ordered if name not in kept
    )
    return kept


def _groups(files: Mapping[str, Any]) -> list[tuple[int, int, Any, int, str]]:
    """(first row, row after the last, file, group, split) of every row group."""
    found, before = [], 0
    for name, file in files.items():
        split = split_in_stem(name)
        for group in range(file.metadata.num_row_groups):
            rows = int(file.metadata.row_group(group).num_rows)
            found.append((before, before + rows, file, group, split))
            before += rows
    return found


READER = ParquetReader()
