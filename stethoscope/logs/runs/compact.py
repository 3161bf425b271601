"""Several readings as one: a log that is followed is read every few seconds, and each reading's columns are files of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.logs.runs.columns import write
from stethoscope.logs.runs.gathered import Gathered, MediaPiece, Piece
from stethoscope.logs.runs.segment import Segment
from stethoscope.logs.series import Media, Series

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
