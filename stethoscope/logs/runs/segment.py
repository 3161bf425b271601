"""One reading's columns, mapped and held against their index: nothing that a worker wrote is trusted.

Several readings as one: a log that is followed is read every few seconds, and each reading's columns are files of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.codec import read_json
from stethoscope.errors import StethoscopeError
from stethoscope.logs.runs.columns import (
    INDEX,
    MEDIA,
    MEDIA_POINTS,
    NUMBERS,
    POINTS,
    SERIES,
    VERSION,
    Numbers,
    Whole,
    write,
)
from stethoscope.logs.runs.facts import (
    MAX_RUNS,
    MAX_SOURCES,
    MAX_TAGS,
    Gathered,
    MediaPiece,
    Piece,
    RunFacts,
    Source,
    run_from_json,
)
from stethoscope.logs.series import Media, Series

_MAPPED_FROM_BYTES = 1 << 20
"""Smaller columns are read: a mapping holds a descriptor."""


@dataclass(frozen=True)
class Segment:
    """What one reading found."""

    title: str
    runs: tuple[RunFacts, ...]
    sources: tuple[Source, ...]
    tags: tuple[str, ...]
    """As their sources call them, without prefixes."""
    kinds: tuple[str, ...]
    left_out: tuple[str, ...]
    series: Whole
    """One row per series, columns `SERIES`."""
    numbers: Numbers
    """One row per series, columns `NUMBERS`."""
    points: Mapping[str, npt.NDArray[Any]]
    """The columns `POINTS`, each of shape (points,)."""
    media: Whole
    """One row per tag and source of media, columns `MEDIA`."""
    media_points: Mapping[str, npt.NDArray[Any]]
    """The columns `MEDIA_POINTS`."""

    @property
    def count(self) -> int:
        """How many points there are."""
        return len(self.points["step"])


def open_segment(files: Mapping[str, Path]) -> Segment:
    """Opens what `columns.write` left.

    Raises:
        StethoscopeError: something does not fit together.
    """
    try:
        return _open(files)
    except (KeyError, TypeError, ValueError, IndexError, OSError, AttributeError) as error:
        raise StethoscopeError(
            f"The runs that were read: expected columns that fit their index, got {type(error).__name__}: {error}. "
            "Read the logs again."
        ) from error


def _open(files: Mapping[str, Path]) -> Segment:
    index = read_json(files[INDEX])
    if index is None or index["version"] != VERSION:
        raise ValueError(f"an {INDEX} of another version")
    runs = tuple(run_from_json(one) for one in index["runs"])
    sources = tuple(
        Source(str(id_), int(run), int(serial), str(prefix)) for id_, run, serial, prefix in index["sources"]
    )
    tags, kinds = tuple(map(str, index["tags"])), tuple(map(str, index["kinds"]))
    if len(runs) > MAX_RUNS or len(sources) > MAX_SOURCES or len(tags) > MAX_TAGS:
        raise ValueError(f"{len(runs)} runs, {len(sources)} sources, {len(tags)} tags")
    if any(not 0 <= one.run < len(runs) for one in sources):
        raise ValueError("a source of no run")
    series, numbers = _table(files["series.npy"], "<i8", len(SERIES)), _table(files["numbers.npy"], "<f8", len(NUMBERS))
    media = _table(files["media.npy"], "<i8", len(MEDIA))
    points = {name: _column(files[f"{name}.npy"], dtype) for name, dtype in POINTS.items()}
    media_points = {name: _column(files[f"{name}.npy"], dtype) for name, dtype in MEDIA_POINTS.items()}
    if len(series) != len(numbers):
        raise ValueError(f"{len(series)} series with {len(numbers)} summaries")
    _check(series, (len(sources), len(tags)), points)
    _check(media, (len(sources), len(tags), len(kinds)), media_points)
    return Segment(
        str(index["title"]),
        runs,
        sources,
        tags,
        kinds,
        tuple(map(str, index["left_out"])),
        series,
        numbers,
        points,
        media,
        media_points,
    )


def _check(rows: Whole, limits: tuple[int, ...], columns: Mapping[str, npt.NDArray[Any]]) -> None:
    """Rows begin with indices below `limits`, then the first point and how many."""
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise ValueError(f"columns of lengths {sorted(lengths)}")
    for at, limit in enumerate(limits):
        if len(rows) and not (rows[:, at].min() >= 0 and rows[:, at].max() < limit):
            raise ValueError("a row of nothing")
    first, count = rows[:, len(limits)], rows[:, len(limits) + 1]
    length = lengths.pop()
    if len(rows) and not ((first >= 0).all() and (count > 0).all() and (count <= length).all()):
        raise ValueError("a row without points")
    if len(rows) and not (first <= length - count).all():
        raise ValueError("a row beyond its points")


def _table(path: Path, dtype: str, width: int) -> npt.NDArray[Any]:
    found = _load(path, dtype)
    if found.ndim != 2 or found.shape[1] != width:
        raise ValueError(f"{path.name} of shape {found.shape}")
    return found


def _column(path: Path, dtype: str) -> npt.NDArray[Any]:
    found = _load(path, dtype)
    if found.ndim != 1:
        raise ValueError(f"{path.name} of shape {found.shape}")
    return found


def _load(path: Path, dtype: str) -> npt.NDArray[Any]:
    if path.is_symlink() or not path.is_file():
        raise ValueError(f"{path.name} is no plain file")
    big = path.stat().st_size >= _MAPPED_FROM_BYTES
    found: npt.NDArray[Any] = np.load(path, mmap_mode="r" if big else None, allow_pickle=False)
    if found.dtype != np.dtype(dtype):
        raise ValueError(f"{path.name} of {found.dtype}")
    # Slices of a plain view cost a third of those of a mapping's.
    return found.view(np.ndarray)


_LEAST = 256
"""What the smallest reading counts as, in points: many small ones are joined, too."""


def size(segment: Segment) -> int:
    """How much work it is to write a reading again, in points."""
    return segment.count + len(segment.media_points["media_step"]) + len(segment.series) + _LEAST


def first_to_join(sizes: Sequence[int]) -> int:
    """From which reading on they should be joined into one, so that few stay and none is written again more often than it doubles."""
    first, joined = len(sizes) - 1, sizes[-1]
    while first > 0 and sizes[first - 1] < 2 * joined:
        first -= 1
        joined += sizes[first]
    return first


def compact(segments: Sequence[Segment], newest: Segment, folder: Path) -> None:
    """Writes `segments` (consecutive, oldest first) as one into `folder`, with the runs and sources of `newest`.

    What its sources no longer have is left out.
    """
    places = {(one.id, one.serial): at for at, one in enumerate(newest.sources)}
    made = Gathered(list(newest.runs), list(newest.sources), left_out=list(newest.left_out))
    made.pieces = list(_pieces(segments, places))
    made.media = list(_media(segments, places))
    write(made, folder, newest.title)


def _pieces(segments: Sequence[Segment], places: dict[tuple[str, int], int]) -> Iterator[Piece]:
    found: dict[tuple[int, str], list[tuple[Segment, int, int]]] = {}
    for segment in segments:
        at = [places.get((one.id, one.serial), -1) for one in segment.sources]
        for source, tag, first, points in segment.series[:, :4].tolist():
            if at[source] >= 0:
                found.setdefault((at[source], segment.tags[tag]), []).append((segment, first, first + points))
    for (source, name), parts in found.items():
        columns = (
            _joined([segment.points[column][first:end] for segment, first, end in parts])
            for column in ("step", "wall_time", "value")
        )
        yield Piece(source, Series(name, *columns))


def _media(segments: Sequence[Segment], places: dict[tuple[str, int], int]) -> Iterator[MediaPiece]:
    found: dict[tuple[int, str, str], list[tuple[Segment, int, int]]] = {}
    for segment in segments:
        at = [places.get((one.id, one.serial), -1) for one in segment.sources]
        for source, tag, kind, first, points in segment.media.tolist():
            if at[source] >= 0:
                key = (at[source], segment.tags[tag], segment.kinds[kind])
                found.setdefault(key, []).append((segment, first, first + points))
    for (source, name, kind), parts in found.items():
        step, wall, start, length = (
            _joined([segment.media_points[f"media_{column}"][first:end] for segment, first, end in parts])
            for column in ("step", "wall_time", "start", "size")
        )
        yield MediaPiece(source, Media(name, kind, step, wall, np.zeros(len(step), np.int32), start, length))


def _joined(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
