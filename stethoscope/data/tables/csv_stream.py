"""The rows of tables of text in parts, every cell as text; rows of another width are left out and said.

Cells of text as numbers or words: what a column holds is decided once, and single cells that differ are missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.streams.text_source import DAMAGE, AsUtf8, open_stream
from stethoscope.data.survey import ProblemList
from stethoscope.data.tables.field_rows import text_array
from stethoscope.data.tables.table_guesses import MISSING, NUMBER, Dialect, dialect_of
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
                        use_threads=False,
                        block_size=_BLOCK_BYTES,
                        column_names=list(dialect.names),
                        skip_rows_after_names=dialect.skip_rows,
                    ),
                    csv.ParseOptions(
                        delimiter=dialect.delimiter,
                        newlines_in_values=dialect.multiline,
                        invalid_row_handler=wrong_width,
                    ),
                    csv.ConvertOptions(
                        column_types={column: pyarrow.string() for column in dialect.names},
                        strings_can_be_null=False,
                        null_values=[],
                    ),
                )
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


_SURE_FRACTION = 0.95
"""Share of the cells that must be numbers for the others to count as mistakes."""
_MOST_BAD = 1_000
_YES_NO = {"true", "false"}


@dataclass(frozen=True)
class Reading:
    """How the cells of one column are read."""

    dtype: str
    """int64, float64, bool or "string"."""
    decimal: str = "."
    bad_cells: tuple[tuple[int, str], ...] = ()
    """(row, cell) of the first cells of a column of numbers that are none."""

    def values(self, text: pyarrow.ChunkedArray) -> npt.NDArray[Any]:
        """The cells of some rows; shape (rows,)."""
        if self.dtype == "string":
            return words_of(text)
        if self.dtype == "bool":
            return np.array([str(cell).strip().lower() == "true" for cell in text.to_pylist()], dtype=bool)
        numbers = as_numbers(text, self.decimal)
        # Rows read later may lack a number that those looked at had.
        return numbers.astype(np.int64) if self.dtype == "int64" and _all_whole(numbers) else numbers


def reading_of(text: pyarrow.ChunkedArray, decimal: str) -> Reading:
    """Decides what a column holds, by all cells given."""
    import pyarrow.compute as pc

    if len(text) == 0:
        return Reading("string")
    present = pc.invert(pc.is_in(text, value_set=_missing_set()))
    count = int(pc.sum(present).as_py() or 0)
    if count == 0:
        return Reading("float64", decimal)
    numbers = as_numbers(text, decimal)
    bad = np.flatnonzero(np.isnan(numbers) & _numpy(present))
    if len(bad) == 0:
        # Whole numbers beyond 2**53 are ids, which a float would change.
        whole = count == len(text) and _all_whole(numbers) and bool((np.abs(numbers) < 2**53).all())
        return Reading("int64" if whole else "float64", decimal)
    if len(bad) <= min(_MOST_BAD, (1 - _SURE_FRACTION) * count):
        return Reading("float64", decimal, tuple((int(row), str(text[int(row)].as_py())) for row in bad[:50]))
    if count == len(text) and len(text) > 1:
        words = {str(word).strip().lower() for word in pc.unique(text).slice(0, 8).to_pylist()}
        if words == _YES_NO:
            return Reading("bool")
    return Reading("string")


def as_numbers(text: pyarrow.ChunkedArray, decimal: str) -> npt.NDArray[np.float64]:
    """float64 of each cell, NaN where there is none; shape (rows,)."""
    import pyarrow
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(text)
    if decimal == ",":
        trimmed = pc.replace_substring(pc.replace_substring(trimmed, ".", ""), ",", ".")
    present = pc.invert(pc.is_in(trimmed, value_set=_missing_set()))
    cells = pc.if_else(present, trimmed, pyarrow.scalar(None, pyarrow.string()))
    try:
        return _float(pc.cast(cells, pyarrow.float64()))
    except pyarrow.ArrowInvalid:
        fits = pc.match_substring_regex(cells, f"^(?i:{NUMBER.pattern})$")
        return _float(
            pc.cast(pc.if_else(fits, _plain(cells), pyarrow.scalar(None, pyarrow.string())), pyarrow.float64())
        )


def words_of(text: pyarrow.ChunkedArray) -> npt.NDArray[Any]:
    """The cells as text, surrounding blanks and marks of missing cells left out; shape (rows,)."""
    missing = set(MISSING)
    return text_array(["" if cell in missing else cell for cell in (str(cell).strip() for cell in text.to_pylist())])


def _plain(cells: Any) -> Any:
    """A leading plus, which pyarrow does not read, left out."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(cells, pattern=r"^\+", replacement="")


def _float(array: Any) -> npt.NDArray[np.float64]:
    numbers: npt.NDArray[np.float64] = array.to_numpy(zero_copy_only=False).astype(np.float64)
    return numbers


def _numpy(array: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=bool)


def _all_whole(numbers: npt.NDArray[np.float64]) -> bool:
    return bool(np.isfinite(numbers).all()) and bool((numbers == np.floor(numbers)).all())


def _missing_set() -> Any:
    import pyarrow

    return pyarrow.array(list(MISSING), pyarrow.string())
