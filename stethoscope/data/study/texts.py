"""Lengths of texts, token rows and recordings, and how much of a row is padding."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.data.study.marks import Counted
from stethoscope.data.study.numbers import Numbers, NumberStudy

_WORD = re.compile(r"\w+", re.UNICODE)
MAX_WORDS = 50_000
SHOWN = 30
_PADDING = (0, 1, -1)
"""RoBERTa's vocabulary pads with 1, most others with 0."""


@dataclass(frozen=True)
class Texts:
    """Lengths of texts and their commonest words."""

    rows: int
    empty: int
    characters: Numbers
    words: Numbers
    common: tuple[Counted, ...]
    study: Literal["text"] = "text"


@dataclass(frozen=True)
class Padding:
    """What rows of tokens are filled up with."""

    value: int
    side: Literal["end", "start"]
    share: float
    """Of all tokens."""


@dataclass(frozen=True)
class Tokens:
    """Rows of token numbers."""

    rows: int
    ids: Numbers
    lengths: Numbers
    """Without padding."""
    row_lengths: tuple[int, ...]
    """As stored: all there are, or the least and the greatest."""
    padding: Padding | None
    common: tuple[Counted, ...]
    study: Literal["token"] = "token"


@dataclass(frozen=True)
class Course:
    """Channels × points over the whole length."""

    mean: tuple[tuple[float, ...], ...]
    std: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Sequences:
    """Sequences of numbers."""

    rows: int
    lengths: Numbers
    channels: tuple[Numbers, ...]
    course: Course | None
    study: Literal["sequence"] = "sequence"


class TextStudy:
    """Characters and words of each text, and the commonest words."""

    def __init__(self) -> None:
        self._characters, self._words = NumberStudy(), NumberStudy()
        self._common: Counter[str] = Counter()
        self._empty = self._rows = 0

    def add(self, texts: Sequence[str]) -> None:
        """More texts."""
        words = [_WORD.findall(text) for text in texts]
        self._rows += len(texts)
        self._empty += sum(not text.strip() for text in texts)
        self._characters.add(np.array([len(text) for text in texts]))
        self._words.add(np.array([len(row) for row in words]))
        for row in words:
            if len(self._common) < MAX_WORDS:
                self._common.update(word.lower() for word in row)

    def result(self) -> Texts:
        """What was found."""
        return Texts(
            rows=self._rows,
            empty=self._empty,
            characters=self._characters.result(),
            words=self._words.result(),
            common=tuple(Counted(word[:60], count) for word, count in self._common.most_common(SHOWN)),
        )


class TokenStudy:
    """Rows of token numbers: their length without padding, the padding's share, the vocabulary they use."""

    def __init__(self) -> None:
        self._lengths, self._ids = NumberStudy(), NumberStudy()
        self._ends: Counter[int] = Counter()
        self._starts: Counter[int] = Counter()
        self._common: Counter[int] = Counter()
        self._rows: list[npt.NDArray[Any]] = []
        self._seen = 0

    def add(self, rows: Sequence[npt.NDArray[Any]]) -> None:
        """More rows of whole numbers; of several lengths, or padded to one."""
        for row in rows:
            flat = np.asarray(row).ravel()
            if flat.size:
                self._ends[int(flat[-1])] += 1
                self._starts[int(flat[0])] += 1
        kept = [np.asarray(row).ravel() for row in rows]
        self._seen += len(kept)
        # Padding is known when all ends have been seen; of long files the first rows stand for the rest.
        self._rows += kept[: max(0, 20_000 - len(self._rows))]
        for row in kept:
            self._ids.add(row)
        if kept and len(self._common) < MAX_WORDS:
            values, counts = np.unique(np.concatenate(kept), return_counts=True)
            self._common.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))

    def padding(self) -> tuple[int, Literal["end", "start"]] | None:
        """(value, "end" | "start") of what rows are padded with; None where they seem not to be padded."""
        sides: tuple[tuple[Counter[int], Literal["end", "start"]], ...] = ((self._ends, "end"), (self._starts, "start"))
        for ends, side in sides:
            value, count = ends.most_common(1)[0] if ends else (0, 0)
            twice = [value, value]
            repeated = sum((row[-2:] if side == "end" else row[:2]).tolist() == twice for row in self._rows)
            kept = len(self._rows) / max(1, self._seen)
            # A separator closes every row once; padding repeats itself.
            if value in _PADDING and repeated > max(0.05 * len(self._rows), 0.3 * count * kept):
                return value, side
        return None

    def result(self) -> Tokens:
        """What was found; asked for once."""
        padding = self.padding()
        padded = total = 0
        for row in self._rows:
            length = row.size
            if padding is not None:
                other = np.flatnonzero(row != padding[0])
                length = (
                    0 if not other.size else int(other[-1]) + 1 if padding[1] == "end" else row.size - int(other[0])
                )
            padded, total = padded + row.size - length, total + row.size
            self._lengths.add(np.array([length]))
        sizes = {row.size for row in self._rows}
        return Tokens(
            rows=self._seen,
            ids=self._ids.result(),
            lengths=self._lengths.result(),
            row_lengths=tuple(sorted(sizes)) if len(sizes) < 3 else (min(sizes), max(sizes)),
            padding=None if padding is None else Padding(*padding, share=padded / max(1, total)),
            common=tuple(Counted(str(value), count) for value, count in self._common.most_common(SHOWN)),
        )


class SequenceStudy:
    """Sequences of numbers: lengths, each channel's values, and the course of the mean over time."""

    MAX_CHANNELS = 16
    POINTS = 200

    def __init__(self) -> None:
        self._lengths = NumberStudy()
        self._channels: list[NumberStudy] = []
        self._sums: npt.NDArray[Any] | None = None
        self._counts: npt.NDArray[Any] | None = None
        self._squares: npt.NDArray[Any] | None = None
        self.rows = 0

    def add(self, rows: Sequence[npt.NDArray[Any]]) -> None:
        """More sequences, each (time,) or (time, channels)."""
        for row in rows:
            table = np.asarray(row, np.float64)
            table = table[:, None] if table.ndim == 1 else table.reshape(table.shape[0], -1)
            table = table[:, : self.MAX_CHANNELS]
            if not table.size:
                continue
            self.rows += 1
            self._lengths.add(np.array([table.shape[0]]))
            while len(self._channels) < table.shape[1]:
                self._channels.append(NumberStudy())
            for study, values in zip(self._channels, table.T, strict=False):
                study.add(values)
            self._course(table)

    def _course(self, table: npt.NDArray[Any]) -> None:
        places = np.linspace(0, table.shape[0], self.POINTS + 1).astype(int)[:-1]
        points = table[np.minimum(places, table.shape[0] - 1)]
        if self._sums is None or self._counts is None or self._squares is None:
            shape = (self.POINTS, self.MAX_CHANNELS)
            self._sums, self._counts, self._squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        good = np.isfinite(points)
        plain = np.where(good, points, 0.0)
        width = points.shape[1]
        self._sums[:, :width] += plain
        self._squares[:, :width] += plain**2
        self._counts[:, :width] += good

    def result(self) -> Sequences:
        """What was found."""
        course = None
        if self._sums is not None and self._counts is not None and self._squares is not None:
            width = len(self._channels)
            count = np.maximum(self._counts[:, :width], 1)
            mean = self._sums[:, :width] / count
            spread = np.sqrt(np.maximum(self._squares[:, :width] / count - mean**2, 0))
            course = Course(*(tuple(tuple(row) for row in table.T.tolist()) for table in (mean, spread)))
        return Sequences(
            rows=self.rows,
            lengths=self._lengths.result(),
            channels=tuple(study.result() for study in self._channels),
            course=course,
        )
