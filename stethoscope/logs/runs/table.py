"""Runs and tags of one or more readings as one table: which points belong to which tag of which run, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stethoscope.logs.better import best_is_low, is_score
from stethoscope.logs.runs.columns import NUMBERS, SERIES, SeriesRows, extend_summary, row_summary, sorted_rows
from stethoscope.logs.runs.facts import Numbering, RunFacts
from stethoscope.logs.runs.segment import Segment, open_segment
from stethoscope.logs.series import Media, Series

_FIRST, _FIRST_WALL, _LAST_WALL = SERIES.index("first"), NUMBERS.index("first_wall"), NUMBERS.index("last_wall")
Ints = npt.NDArray[np.int64]


class Curves(NamedTuple):
    """All points of one tag: those of the runs one after another."""

    runs: Ints
    """Indices of runs that have the tag, ascending."""
    edges: Ints
    """Points of the run at place k are edges[k]:edges[k + 1]; shape (runs + 1,)."""
    step: Ints
    wall_time: npt.NDArray[np.float64]
    value: npt.NDArray[np.float64]

    def of(self, place: int) -> slice:
        """Where the points of the run at this place are."""
        return slice(int(self.edges[place]), int(self.edges[place + 1]))


class MediaFacts(NamedTuple):
    """Media of one tag of one run."""

    tag: str
    kind: str
    run: int
    points: int


class RunTable:
    """What is known of a log.

    Args:
        segments: readings, oldest first; the last one says which runs there are.
        numbering: the numbers runs and tags had so far, which they keep.
    """

    def __init__(self, segments: Sequence[Segment], numbering: Numbering | None = None) -> None:
        self.segments = tuple(segments)
        self.numbering = Numbering() if numbering is None else numbering
        newest = segments[-1]
        self.title, self.left_out = newest.title, newest.left_out
        self._run_of = self.numbering.take_runs(newest.runs)
        self.runs: tuple[RunFacts, ...] = self.numbering.runs
        live = {(one.id, one.serial): at for at, one in enumerate(newest.sources)}
        found, media = [], []
        for number, segment in enumerate(segments):
            places = [live.get((one.id, one.serial), -1) for one in segment.sources]
            source = np.array([*places, -1], np.int64)
            found.append(self._rows(number, segment, segment.series, source))
            media.append(self._rows(number, segment, segment.media, source))
        self._rows_of = sorted_rows(found)
        self._media_rows = sorted_rows(media)
        self.tags: tuple[str, ...] = tuple(self.numbering.tags)
        self._starts = np.searchsorted(self._rows_of.tag, np.arange(len(self.tags) + 1))
        self._gathered: tuple[int, Curves] | None = None

    @classmethod
    def open(cls, files: Mapping[str, Path]) -> RunTable:
        """The table of one reading.

        Raises:
            StethoscopeError: the files do not fit together.
        """
        return cls([open_segment(files)])

    @property
    def points(self) -> int:
        """How many points there are in all."""
        return int(self._rows_of.points.sum())

    def tag_number(self, tag: str) -> int:
        """The index of a tag.

        Raises:
            KeyError: no run has had it.
        """
        return self.numbering.tags[tag]

    def curves(self, tag: int) -> Curves:
        """All points of one tag; raises IndexError for a number that is none."""
        if not 0 <= tag < len(self.tags):
            raise IndexError(tag)
        if self._gathered is not None and self._gathered[0] == tag:
            return self._gathered[1]
        rows = self._rows_of.between(int(self._starts[tag]), int(self._starts[tag + 1]))
        begins = np.flatnonzero(np.diff(rows.run, prepend=-1))
        ends = np.append(begins[1:], len(rows.run)) if len(begins) else begins
        totals = np.concatenate([[0], np.cumsum(rows.points)])
        edges = np.concatenate([[0], totals[ends]]).astype(np.int64)
        step, wall, value = (self._column(rows, name) for name in ("step", "wall_time", "value"))
        found = Curves(rows.run[begins], edges, step, wall, value)
        self._gathered = (tag, found)
        return found

    def series(self, run: int, tag: str) -> Series:
        """All points of one tag of one run, in the order written; raises KeyError where there is none."""
        number = self.tag_number(tag)
        begin, end = int(self._starts[number]), int(self._starts[number + 1])
        mine = begin + np.searchsorted(self._rows_of.run[begin:end], [run, run + 1])
        rows = self._rows_of.between(int(mine[0]), int(mine[1]))
        if not len(rows.run):
            raise KeyError((run, tag))
        return Series(tag, *(self._column(rows, name) for name in ("step", "wall_time", "value")))

    def summary(self, tag: int) -> list[dict[str, Any]]:
        """Per run that has the tag, over all of its points: first and last step, last and best value, what is not finite."""
        if not 0 <= tag < len(self.tags):
            raise IndexError(tag)
        low = best_is_low(self.tags[tag])
        found: list[dict[str, Any]] = []
        for at in range(int(self._starts[tag]), int(self._starts[tag + 1])):
            row = self._rows_of.at(at)
            segment = self.segments[row.segment]
            one = row_summary(segment.series[row.row].tolist(), segment.numbers[row.row].tolist(), low)
            if found and found[-1]["run"] == row.run:
                extend_summary(found[-1], one, low)
            else:
                found.append({"run": row.run} | one)
        return found

    @property
    def media(self) -> tuple[MediaFacts, ...]:
        """All media, by tag and run."""
        points: dict[tuple[int, int, str], int] = {}
        for at in range(len(self._media_rows.tag)):
            row = self._media_rows.at(at)
            segment = self.segments[row.segment]
            key = (row.tag, row.run, segment.kinds[int(segment.media[row.row, 2])])
            points[key] = points.get(key, 0) + row.points
        return tuple(MediaFacts(self.tags[tag], kind, run, count) for (tag, run, kind), count in points.items())

    def media_of(self, run: int, tag: str) -> Media:
        """Media of one tag of one run, those of its first kind; `file` is an index into the run's files.

        Raises:
            KeyError: there is none.
        """
        number, rows = self.tag_number(tag), self._media_rows
        chosen = np.flatnonzero((rows.tag == number) & (rows.run == run))
        if not len(chosen):
            raise KeyError((run, tag))
        files = {name: at for at, name in enumerate(self.runs[run].files)}
        kind, parts = "", []
        for at in chosen.tolist():
            row = rows.at(at)
            segment = self.segments[row.segment]
            source, _, kind_number, first, count = segment.media[row.row].tolist()
            if kind not in ("", segment.kinds[kind_number]):
                continue
            kind = segment.kinds[kind_number]
            file = files.get(segment.sources[source].id.partition(":")[2], 0)
            columns = {name: one[first : first + count] for name, one in segment.media_points.items()}
            parts.append((columns, np.full(count, file, np.int32)))
        joined = {name: np.concatenate([one[name] for one, _ in parts]) for name in parts[0][0]}
        return Media(
            tag,
            kind,
            joined["media_step"],
            joined["media_wall_time"],
            np.concatenate([file for _, file in parts]),
            joined["media_start"],
            joined["media_size"],
        )

    def index(self) -> dict[str, Any]:
        """Runs, tags and media as the page gets them."""
        rows = self._rows_of
        tags_of: list[list[int]] = [[] for _ in self.runs]
        pairs = np.unique(rows.run * max(len(self.tags), 1) + rows.tag)
        for run, tag in zip(*(one.tolist() for one in np.divmod(pairs, max(len(self.tags), 1))), strict=True):
            tags_of[run].append(tag)
        walls = self._walls()
        runs_with = np.bincount(pairs % max(len(self.tags), 1), minlength=len(self.tags)).tolist()
        points = np.bincount(rows.tag, weights=rows.points, minlength=len(self.tags)).tolist()
        return {
            "runs": [
                {
                    "run": one.run,
                    "group": one.group,
                    "tracker": one.tracker,
                    "unit": one.unit,
                    "parameters": one.parameters,
                    "notes": one.notes,
                    "health": one.health,
                    "gone": one.gone,
                    "first_wall": walls[at][0],
                    "last_wall": walls[at][1],
                    "tags": tags_of[at],
                }
                for at, one in enumerate(self.runs)
            ],
            "tags": [
                {
                    "tag": tag,
                    "runs": count,
                    "points": int(total),
                    "low_is_best": best_is_low(tag),
                    "score": is_score(tag),
                }
                for tag, count, total in zip(self.tags, runs_with, points, strict=True)
            ],
            "media": [one._asdict() for one in self.media],
            "left_out": list(self.left_out),
        }

    def _walls(self) -> list[tuple[float | None, float | None]]:
        """First and last time of every run, in seconds since 1970; None where its log has no times."""
        first, last = np.full(len(self.runs), np.inf), np.full(len(self.runs), -np.inf)
        for number, segment in enumerate(self.segments):
            mine = self._rows_of.segment == number
            runs, rows = self._rows_of.run[mine], self._rows_of.row[mine]
            np.fmin.at(first, runs, segment.numbers[rows, _FIRST_WALL])
            np.fmax.at(last, runs, segment.numbers[rows, _LAST_WALL])
        return [
            (low if np.isfinite(low) else None, high if np.isfinite(high) else None)
            for low, high in zip(first.tolist(), last.tolist(), strict=True)
        ]

    def _rows(self, number: int, segment: Segment, table: Ints, source: Ints) -> SeriesRows:
        """Rows of a segment whose sources are still there; `source` gives their places in the newest one."""
        sources = self.segments[-1].sources
        mine = source[table[:, 0]]
        kept = np.flatnonzero(mine >= 0)
        mine = mine[kept]
        prefixes = sorted({one.prefix for one in sources})
        prefix_of = np.array([prefixes.index(one.prefix) for one in sources] or [0], np.int64)
        run_of = np.array([self._run_of[one.run] for one in sources] or [0], np.int64)
        width = max(len(segment.tags), 1)
        pairs, back = np.unique(prefix_of[mine] * width + table[kept, 1], return_inverse=True)
        names = [prefixes[pair // width] + segment.tags[pair % width] for pair in pairs.tolist()]
        numbers = np.array([self.numbering.take_tag(name) for name in names] or [0], np.int64)
        first = table.shape[1] - 2 if table is segment.media else _FIRST
        return SeriesRows(
            numbers[back] if len(back) else back.astype(np.int64),
            run_of[mine] if len(mine) else mine,
            mine,
            np.full(len(kept), number, np.int64),
            kept,
            table[kept, first],
            table[kept, first + 1],
        )

    def _column(self, rows: SeriesRows, name: str) -> npt.NDArray[Any]:
        """Points of rows one after another: one slice where they lie so, else a copy."""
        if not len(rows.first):
            return self.segments[-1].points[name][:0]
        ends = rows.first + rows.points
        breaks = np.flatnonzero((rows.first[1:] != ends[:-1]) | (rows.segment[1:] != rows.segment[:-1])) + 1
        begins, lasts = [0, *breaks.tolist()], [*(breaks - 1).tolist(), len(rows.first) - 1]
        parts = [
            self.segments[segment].points[name][first:end]
            for segment, first, end in zip(
                rows.segment[begins].tolist(), rows.first[begins].tolist(), ends[lasts].tolist(), strict=True
            )
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
