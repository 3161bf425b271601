"""One reading's columns, mapped and held against their index: nothing that a worker wrote is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.distrusted_json import read_json
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
)
from stethoscope.logs.runs.facts import MAX_RUNS, MAX_SOURCES, MAX_TAGS, RunFacts, Source, run_from_json

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
        str(index["title"]), runs, sources, tags, kinds, tuple(map(str, index["left_out"])),
        series, numbers, points, media, media_points,
    )  # fmt: skip


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
