"""Points of a log as one table to take away, written piece by piece: run, tag, step, wall_time, value."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TextIO

import numpy as np

from stethoscope.logs.runs.table import Curves, RunTable
from stethoscope.logs.series import RunLog

if TYPE_CHECKING:
    import pyarrow as pa


Kind = Literal["csv", "parquet"]
KINDS: tuple[Kind, ...] = ("csv", "parquet")
_ROWS = 100_000


def export(
    table: RunTable, kind: Kind, tags: Sequence[int] | None = None, runs: Sequence[int] | None = None
) -> Iterator[bytes]:
    """The table as a file, in pieces: every point as it was logged, also those a restart overwrote.

    Args:
        table: the log.
        kind: of file. In CSV "nan", "inf" and "-inf" are values, and a time that was not logged is empty.
        tags: indices; None for all.
        runs: indices; None for all.
    """
    import pyarrow as pa

    schema = pa.schema(
        [
            ("run", pa.string()),
            ("tag", pa.string()),
            ("step", pa.int64()),
            ("wall_time", pa.float64()),
            ("value", pa.float64()),
        ]
    )
    sink = _Sink()
    with _writer(sink, schema, kind) as writer:
        for batch in _batches(table, range(len(table.tags)) if tags is None else tags, runs, schema):
            writer.write(batch)
            yield sink.taken()
    yield sink.taken()


class _Sink:
    """A file that only goes on, whose content is taken away as it comes."""

    def __init__(self) -> None:
        self._content: list[bytes] = []
        self._at = 0
        self.closed = False

    def write(self, content: Any) -> int:
        """Takes bytes or a buffer."""
        taken = bytes(content)
        self._content.append(taken)
        self._at += len(taken)
        return len(taken)

    def taken(self) -> bytes:
        """What came since the last time."""
        found = b"".join(self._content)
        self._content.clear()
        return found

    def tell(self) -> int:
        """How much was written in all."""
        return self._at

    def flush(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """Nothing more will come."""
        self.closed = True

    def readable(self) -> bool:
        """Never."""
        return False

    def writable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Never."""
        return False


def _writer(sink: _Sink, schema: pa.Schema, kind: Kind) -> Any:
    import pyarrow as pa
    from pyarrow import csv, parquet

    file = pa.PythonFile(sink, mode="w")
    if kind == "csv":
        return csv.CSVWriter(file, schema, write_options=csv.WriteOptions(quoting_style="needed"))
    return parquet.ParquetWriter(file, schema, compression="zstd")


def _batches(
    table: RunTable, tags: Sequence[int], runs: Sequence[int] | None, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    names = pa.array([run.run for run in table.runs], pa.string())
    for tag in tags:
        curves = table.curves(tag)
        kept = np.ones(len(curves.runs), bool) if runs is None else np.isin(curves.runs, np.array(runs, np.int64))
        called = pa.array([table.tags[tag]], pa.string())
        for begin, end in _stretches(curves, kept):
            count = end - begin
            places = np.searchsorted(curves.edges, np.arange(begin, end), "right") - 1
            time = curves.wall_time[begin:end]
            columns = [
                names.take(pa.array(curves.runs[places])),
                called.take(pa.array(np.zeros(count, np.int64))),
                pa.array(curves.step[begin:end]),
                pa.array(time, mask=np.isnan(time)),
                pa.array(curves.value[begin:end]),
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _stretches(curves: Curves, kept: Any) -> Iterator[tuple[int, int]]:
    """Points of the runs that are kept, some at a time."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], kept, [False]]).astype(np.int8)))
    for first, after in edges.reshape(-1, 2).tolist():
        start, stop = int(curves.edges[first]), int(curves.edges[after])
        for begin in range(start, stop, _ROWS):
            yield begin, min(begin + _ROWS, stop)


COLUMNS = ("run", "tag", "step", "wall_time", "value")


def write_points(runs: Iterable[RunLog], stream: TextIO, tags: re.Pattern[str] | None = None) -> int:
    """Writes all points in the order logged, also those a restart overwrote; returns how many.

    Args:
        runs: what to write.
        stream: a text file opened with `newline=""`.
        tags: only tags in which this is found.

    Values are written so that they read back equal to the bit; "nan", "inf" and "-inf" are what they are called.
    A time that was not logged is empty.
    """
    rows = csv.writer(stream)
    rows.writerow(COLUMNS)
    count = 0
    for run in runs:
        for tag, series in sorted(run.series.items()):
            if tags is not None and not tags.search(tag):
                continue
            times = ("" if math.isnan(time) else repr(time) for time in series.wall_time.tolist())
            points = zip(series.step.tolist(), times, map(repr, series.value.tolist()), strict=True)
            rows.writerows((run.run, tag, step, time, value) for step, time, value in points)
            count += len(series.step)
    return count
