"""The rows of tables of text in parts, every cell as text; rows of another width are left out and said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from stethoscope.data.problem_list import ProblemList
from stethoscope.data.streams.text_source import DAMAGE, AsUtf8, open_stream
from stethoscope.data.tables.csv_dialect import Dialect, dialect_of
from stethoscope.errors import UnreadableFile
from stethoscope.types import ModelFile

if TYPE_CHECKING:
    import pyarrow

_HEAD_BYTES = 1 << 20
_BLOCK_BYTES = 4 << 20
"""Parsed at once; no row may be longer."""


class CsvStream:
    """One or several files with the same columns, read from the first row on and never again."""

    def __init__(self, file: ModelFile, names: Sequence[str], options: Mapping[str, Any], limit_bytes: int) -> None:
        """Reads how each file is written.

        Args:
            file: what the files belong to.
            names: the files, in order.
            options: see `dialect_of`.
            limit_bytes: read of all files together, at most.

        Raises:
            UnreadableFile, TooLarge, BadSetting: as `dialect_of`.
        """
        self._file, self._names, self._limit = file, tuple(names), limit_bytes
        self._dialects = [self._dialect(name, options) for name in self._names]
        self.columns = self._dialects[0].names
        self.problems = ProblemList()
        self.read_bytes = 0
        self.cut = False
        """Whether the limit was reached before the end."""

    def _dialect(self, name: str, options: Mapping[str, Any]) -> Dialect:
        subject = name if name == self._file.name else f"{self._file.name}: {name}"
        try:
            with open_stream(self._file, name) as stream:
                head = stream.read(_HEAD_BYTES)
                return dialect_of(subject, head, options, whole=len(head) < _HEAD_BYTES)
        except DAMAGE as error:
            raise UnreadableFile(f"{subject}: is damaged ({error}). Save it again or repeat the upload.") from error

    @property
    def decimal(self) -> str:
        """The decimal mark of the first file."""
        return self._dialects[0].decimal

    def parts(self) -> Iterator[tuple[str, pyarrow.RecordBatch]]:
        """Yields (file, rows) until the end or the limit; every cell is text."""
        for name, dialect in zip(self._names, self._dialects, strict=True):
            for batch in self._file_parts(name, dialect):
                yield name, batch
            if self.read_bytes >= self._limit:
                self.cut = self.cut or name != self._names[-1]
                return

    def _file_parts(self, name: str, dialect: Dialect) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow
        from pyarrow import csv

        before, seen = self.read_bytes, 0

        def wrong_width(row: Any) -> str:
            where = f"row {seen + 1:,} or after" if row.number is None else f"row {row.number - dialect.skip_rows:,}"
            self.problems.add(
                "width",
                where if len(self._names) == 1 else f"{name}, {where}",
                f"Has {row.actual_columns} cells where the columns are {row.expected_columns}; it is left out.",
            )
            return "skip"

        with ExitStack() as opened:
            stream = opened.enter_context(open_stream(self._file, name))
            source = AsUtf8(stream, dialect.encoding, self._limit - before)
            try:
                reader = csv.open_csv(
                    source,
                    csv.ReadOptions(
                        use_threads=False, block_size=_BLOCK_BYTES, column_names=list(dialect.names),
                        skip_rows_after_names=dialect.skip_rows,
                    ),
                    csv.ParseOptions(
                        delimiter=dialect.delimiter, newlines_in_values=dialect.multiline, invalid_row_handler=wrong_width
                    ),
                    csv.ConvertOptions(
                        column_types={column: pyarrow.string() for column in dialect.names}, strings_can_be_null=False,
                        null_values=[],
                    ),
                )  # fmt: skip
                for batch in reader:
                    seen += batch.num_rows
                    self.read_bytes = before + source.read_bytes
                    yield batch
            except pyarrow.ArrowInvalid as error:
                # A file with a header and no rows is an empty table.
                if seen or "Empty CSV" not in str(error):
                    self._stopped(name, seen, str(error))
        self.read_bytes = before + source.read_bytes
        if source.damage:
            self._stopped(name, seen, source.damage)
        if source.quotes % 2 and source.ended and self.read_bytes < self._limit:
            self.problems.add(
                "quotes", name, "A quotation mark is opened and never closed: a cell may hold several rows."
            )
        if source.replaced:
            self.problems.add("encoding", name, f"Some characters are not {dialect.encoding}; they are shown as �.")
        if self.read_bytes >= self._limit:
            self.cut = self.cut or bool(stream_has_more(self._file, name, source.read_bytes))

    def _stopped(self, name: str, rows: int, why: str) -> None:
        sentence = f"Cannot be read after row {rows:,} ({why.splitlines()[0][:160]}); the rows before are shown."
        self.problems.add("stopped", name, sentence)


def stream_has_more(file: ModelFile, name: str, position: int) -> bool:
    """Whether a file goes on after `position` bytes, for a plain file; a compressed one is taken to."""
    if file.path.is_file() and name == file.name:
        return file.path.stat().st_size > position
    return True
