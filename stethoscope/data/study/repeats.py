"""Rows that occur twice, and equal rows that carry different labels.

How columns of numbers go together: rank correlations with each other and with the target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.study.array_statistics import row_hashes
from stethoscope.data.study.numbers import Reservoir

MAX_ROWS = 5_000_000
"""Rows that are remembered: 24 bytes each."""
SHOWN_GROUPS = 50
SHOWN_PLACES = 20


@dataclass(frozen=True)
class Repeats:
    """Equal rows, by their places, the largest groups first."""

    rows: int = 0
    repeated_rows: int = 0
    """Rows that repeat an earlier one."""
    groups: tuple[tuple[int, ...], ...] = ()
    conflicting_rows: int = 0
    """Rows that have an equal twin with another label."""
    conflicts: tuple[tuple[int, ...], ...] = ()


class RepeatStudy:
    """Compares rows by a 64-bit number of all their inputs, and labels by another."""

    def __init__(self) -> None:
        self._inputs: list[npt.NDArray[np.uint64]] = []
        self._labels: list[npt.NDArray[np.uint64]] = []
        self._places: list[npt.NDArray[np.int64]] = []
        self.rows = 0

    def add(self, places: Sequence[int], inputs: npt.NDArray[np.uint64], labels: npt.NDArray[np.uint64] | None) -> None:
        """More rows by their numbers; `labels` is None where there are none."""
        if self.rows >= MAX_ROWS:
            return
        self.rows += len(inputs)
        self._inputs.append(inputs)
        self._labels.append(np.zeros(len(inputs), np.uint64) if labels is None else labels)
        self._places.append(np.asarray(places, np.int64))

    def result(self) -> Repeats:
        """What was found."""
        if not self._inputs:
            return Repeats()
        inputs, labels = np.concatenate(self._inputs), np.concatenate(self._labels)
        places = np.concatenate(self._places)
        order = np.lexsort((places, inputs))
        inputs, labels, places = inputs[order], labels[order], places[order]
        starts = np.flatnonzero(np.r_[True, inputs[1:] != inputs[:-1]])
        sizes = np.diff(np.r_[starts, len(inputs)])
        several = np.flatnonzero(sizes > 1)
        differs = np.r_[False, (labels[1:] != labels[:-1]) & (inputs[1:] == inputs[:-1])]
        clashing = np.add.reduceat(differs, starts) > 0
        ranked = several[np.argsort(-sizes[several], kind="stable")]
        return Repeats(
            rows=self.rows,
            repeated_rows=int((sizes[several] - 1).sum()),
            groups=tuple(self._group(places, starts, sizes, one) for one in ranked[:SHOWN_GROUPS]),
            conflicting_rows=int(sizes[clashing].sum()),
            conflicts=tuple(
                self._group(places, starts, sizes, one)
                for one in [group for group in ranked if clashing[group]][:SHOWN_GROUPS]
            ),
        )

    @staticmethod
    def _group(
        places: npt.NDArray[Any], starts: npt.NDArray[Any], sizes: npt.NDArray[Any], one: int
    ) -> tuple[int, ...]:
        start = int(starts[one])
        return tuple(int(place) for place in places[start : start + min(int(sizes[one]), SHOWN_PLACES)])


def numbers_of(values: Any) -> npt.NDArray[np.uint64]:
    """One number for each row of an array or a list of rows; rows of several shapes and texts too."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufbUS":
        return row_hashes(values)
    return np.array([_number(row) for row in values], np.uint64)


def _number(row: Any) -> int:
    import hashlib

    if row is None:
        return 0
    array = np.ascontiguousarray(row)
    content = str(array.tolist()).encode() if array.dtype.kind in "OUS" else array.tobytes()
    digest = hashlib.blake2b(content, digest_size=8, person=str(array.shape).encode()[:16]).digest()
    return int.from_bytes(digest, "little")


def combined(parts: Sequence[npt.NDArray[np.uint64]]) -> npt.NDArray[np.uint64]:
    """One number for each row from those of several fields, whose order matters."""
    found = np.zeros(len(parts[0]), np.uint64)
    for part in parts:
        found = (found * np.uint64(0x9E3779B97F4A7C15)) ^ (part + (found >> np.uint64(29)))
    return found


MAX_COLUMNS = 60
ROWS = 5_000


@dataclass(frozen=True)
class Relations:
    """Spearman's rank correlation of every two columns; None for a constant one."""

    names: tuple[str, ...]
    matrix: tuple[tuple[float | None, ...], ...]


class RelationStudy:
    """Keeps a sample of whole rows of number columns."""

    def __init__(self, names: list[str]) -> None:
        self.names = names[:MAX_COLUMNS]
        self._rows = Reservoir(ROWS)

    def add(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        """More rows; every column of `names` as an array of one number a row."""
        if len(self.names) > 1:
            self._rows.add(np.stack([np.asarray(columns[name], np.float64) for name in self.names], axis=1))

    def result(self) -> Relations | None:
        """Correlations over rows without missing values; None where there are too few rows.

        Source: Spearman (1904); ties get their mean rank.
        """
        rows = self._rows.values
        if rows.ndim != 2 or len(rows) < 3:
            return None
        from scipy.stats import rankdata

        good = np.isfinite(rows)
        count = rows.shape[1]
        matrix: list[list[float | None]] = [[None] * count for _ in range(count)]
        for one in range(count):
            for other in range(one, count):
                both = good[:, one] & good[:, other]
                left, right = rows[both, one], rows[both, other]
                if len(left) < 3 or np.ptp(left) == 0 or np.ptp(right) == 0:
                    continue
                value = 1.0 if one == other else float(np.corrcoef(rankdata(left), rankdata(right))[0, 1])
                matrix[one][other] = matrix[other][one] = value
        return Relations(tuple(self.names), tuple(tuple(row) for row in matrix))
