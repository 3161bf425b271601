"""Writes what was gathered as columns: plain `.npy` files of all points, and an index that says whose they are.

step, wall_time, value        all points, one series after another; series sorted by tag, then by run
series, numbers               per series: whose it is, where its points are, and a summary over all of them
media_step … media_size       places of what is no scalar
media                         per tag and source of these: whose they are, and where they begin
index.json                    runs, sources, tags

Series of several readings as one sorted list, and what the readings say of each added up.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stethoscope.logs.runs.facts import Gathered, MediaPiece, Piece
from stethoscope.logs.series import Series

INDEX: Final = "index.json"
VERSION: Final = 1
SERIES: Final = (
    "source",
    "tag",
    "first",
    "points",
    "first_step",
    "last_step",
    "low_step",
    "high_step",
    "nonfinite",
    "low_at",
    "high_at",
)
"""Columns of series.npy, int64; low_at and high_at are places among the series' points, -1 where none is finite."""
NUMBERS: Final = ("last_value", "low_value", "high_value", "first_wall", "last_wall")
"""Columns of numbers.npy, float64; NaN where there is none."""
POINTS: Final = {"step": "<i8", "wall_time": "<f8", "value": "<f8"}
MEDIA: Final = ("source", "tag", "kind", "first", "points")
MEDIA_POINTS: Final = {"media_step": "<i8", "media_wall_time": "<f8", "media_start": "<i8", "media_size": "<i8"}

Whole = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


def write(found: Gathered, folder: Path, title: str, progress: Callable[[float], None] = lambda _part: None) -> int:
    """Writes everything into `folder`; returns how many points there are."""
    folder.mkdir(exist_ok=True)
    prefixes = [one.prefix for one in found.sources]
    pieces = sorted(found.pieces, key=lambda one: (prefixes[one.source] + one.series.tag, one.source))
    media = sorted(found.media, key=lambda one: (prefixes[one.source] + one.media.tag, one.source))
    names = sorted({one.series.tag for one in pieces} | {one.media.tag for one in media})
    tags = {tag: at for at, tag in enumerate(names)}
    kinds = {kind: at for at, kind in enumerate(sorted({one.media.kind for one in media}))}
    points = _write_series(pieces, tags, folder, progress)
    _write_media(media, tags, kinds, folder)
    index = {
        "version": VERSION,
        "title": title,
        "runs": [run.to_json() for run in found.runs],
        "sources": [[one.id, one.run, one.serial, one.prefix] for one in found.sources],
        "tags": names,
        "kinds": list(kinds),
        "left_out": found.left_out,
    }
    (folder / INDEX).write_text(json.dumps(index, allow_nan=False))
    return points


def summary(series: Series) -> tuple[list[int], list[float]]:
    """Of all points: the columns of `SERIES` from first_step on, and those of `NUMBERS`. The series has a point at least."""
    value, wall = series.value, series.wall_time
    finite = np.isfinite(value)
    count = int(np.count_nonzero(finite))
    low = high = -1
    if count == len(value):
        low, high = int(value.argmin()), int(value.argmax())
    elif count:
        low = int(np.where(finite, value, np.inf).argmin())
        high = int(np.where(finite, value, -np.inf).argmax())
    step = series.step
    whole = [int(step[0]), int(step[-1]), int(step[low]), int(step[high]), len(value) - count, low, high]
    none = float("nan")
    numbers = [
        float(value[-1]),
        float(value[low]) if count else none,
        float(value[high]) if count else none,
        float(wall[0]),
        float(wall[-1]),
    ]
    return whole, numbers


def write_column(path: Path, dtype: str, parts: Iterable[npt.NDArray[Any]], length: int) -> None:
    """Writes one column part by part, so that it is never held as a whole."""
    with path.open("wb") as stream:
        header = {"descr": dtype, "fortran_order": False, "shape": (length,)}
        np.lib.format.write_array_header_1_0(stream, header)
        for part in parts:
            stream.write(np.ascontiguousarray(part, np.dtype(dtype)).data)


def _write_series(pieces: list[Piece], tags: dict[str, int], folder: Path, progress: Callable[[float], None]) -> int:
    rows: list[list[int]] = []
    numbers: list[list[float]] = []
    first = 0
    for at, (source, series) in enumerate(pieces):
        whole, found = summary(series)
        rows.append([source, tags[series.tag], first, len(series.step), *whole])
        numbers.append(found)
        first += len(series.step)
        if at % 256 == 0:
            progress(at / len(pieces))
    np.save(folder / "series.npy", np.array(rows, np.int64).reshape(-1, len(SERIES)))
    np.save(folder / "numbers.npy", np.array(numbers, np.float64).reshape(-1, len(NUMBERS)))
    for name, dtype in POINTS.items():
        write_column(folder / f"{name}.npy", dtype, (getattr(one.series, name) for one in pieces), first)
    return first


def _write_media(pieces: list[MediaPiece], tags: dict[str, int], kinds: dict[str, int], folder: Path) -> None:
    rows: list[list[int]] = []
    first = 0
    for source, media in pieces:
        rows.append([source, tags[media.tag], kinds[media.kind], first, len(media.step)])
        first += len(media.step)
    np.save(folder / "media.npy", np.array(rows, np.int64).reshape(-1, len(MEDIA)))
    for name, dtype in MEDIA_POINTS.items():
        field = name.removeprefix("media_")
        write_column(folder / f"{name}.npy", dtype, (getattr(one.media, field) for one in pieces), first)


_S = {name: at for at, name in enumerate(SERIES)}
_N = {name: at for at, name in enumerate(NUMBERS)}
Ints = npt.NDArray[np.int64]


class SeriesRow(NamedTuple):
    """One series of one segment."""

    tag: int
    run: int
    source: int
    segment: int
    row: int
    first: int
    points: int


class SeriesRows(NamedTuple):
    """Series of all segments; every array has the shape (series,)."""

    tag: Ints
    run: Ints
    source: Ints
    segment: Ints
    row: Ints
    first: Ints
    points: Ints

    def between(self, begin: int, end: int) -> SeriesRows:
        """Those at places begin … end."""
        return SeriesRows(*(one[begin:end] for one in self))

    def at(self, place: int) -> SeriesRow:
        """The one at a place."""
        return SeriesRow(*(int(one[place]) for one in self))


def sorted_rows(parts: list[SeriesRows]) -> SeriesRows:
    """By tag, run, source, and the order they were read in."""
    whole = parts[0] if len(parts) == 1 else SeriesRows(*(np.concatenate(one) for one in zip(*parts, strict=True)))
    order = np.lexsort((whole.segment, whole.source, whole.run, whole.tag))
    return SeriesRows(*(one[order] for one in whole))


def row_summary(whole: list[int], numbers: list[float], low: bool) -> dict[str, Any]:
    """A row of series.npy and its row of numbers.npy, in words; `low` is whether low values are best."""
    return {
        "points": whole[_S["points"]],
        "first_step": whole[_S["first_step"]],
        "last_step": whole[_S["last_step"]],
        "last_value": numbers[_N["last_value"]],
        "best_value": numbers[_N["low_value" if low else "high_value"]],
        "best_step": whole[_S["low_step" if low else "high_step"]],
        "nonfinite": whole[_S["nonfinite"]],
        "first_wall": numbers[_N["first_wall"]],
        "last_wall": numbers[_N["last_wall"]],
    }


def extend_summary(found: dict[str, Any], more: Mapping[str, Any], low: bool) -> None:
    """Adds the summary of points that came later."""
    found["points"] += more["points"]
    found["nonfinite"] += more["nonfinite"]
    for name in ("last_step", "last_value", "last_wall"):
        found[name] = more[name]
    known, new = found["best_value"], more["best_value"]
    if not math.isnan(new) and (math.isnan(known) or (new < known if low else new > known)):
        found["best_value"], found["best_step"] = new, more["best_step"]
