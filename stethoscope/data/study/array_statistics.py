"""Statistics of one array, streamed in chunks: what is kept is a few numbers for each column.

One 64-bit number for each row of an array: equal rows have equal numbers, others practically never.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.study.profiles import ArrayProfile, Features

Array = npt.NDArray[Any]
CHUNK_VALUES = 1 << 20
MAX_COLUMNS = 2_000
MAX_DISTINCT = 64
EXACT_DISTINCT_VALUES = 20_000_000
"""Up to this size every value is looked at for the list of distinct ones; beyond it, evenly spaced rows."""
SAMPLE_VALUES = 1_000_000
HASHED_ROWS = 1_000_000
"""Duplicates are looked for among this many evenly spaced rows."""
BINS = 40


@dataclass
class _Sums:
    """Running statistics of each column, merged chunk by chunk.

    Source: Chan, Golub and LeVeque (1979), pairwise combination of means and squared deviations.
    """

    minimum: Array
    maximum: Array
    count: Array
    mean: Array
    squares: Array
    zeros: int = 0
    values: int = 0
    nan: int = 0
    infinite: int = 0
    nan_rows: int = 0
    integral: bool = True

    @classmethod
    def empty(cls, columns: int) -> _Sums:
        return cls(
            np.full(columns, np.inf), np.full(columns, -np.inf), np.zeros(columns), np.zeros(columns), np.zeros(columns)
        )

    def add(self, part: Array, rows: int) -> None:
        """Merges a contiguous (columns, values) chunk that belongs to `rows` rows; it may be changed in place."""
        exact = part.dtype.kind in "iub"
        values = part.astype(np.float64)
        self.values += values.size
        self.zeros += values.size - int(np.count_nonzero(values))
        good = np.full(len(values), values.shape[1], np.float64)
        lowest, highest = values.min(axis=1), values.max(axis=1)
        if not (np.isfinite(lowest).all() and np.isfinite(highest).all()):
            nan, finite = np.isnan(values), np.isfinite(values)
            self.nan += int(nan.sum())
            self.infinite += int(values.size - finite.sum() - nan.sum())
            good = finite.sum(axis=1).astype(np.float64)
            lowest = np.where(finite, values, np.inf).min(axis=1)
            highest = np.where(finite, values, -np.inf).max(axis=1)
            totals = np.where(finite, values, 0.0).sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                means = np.where(good > 0, totals / np.maximum(good, 1), 0.0)
            values = np.where(finite, values, means[:, None])
            by_row = nan.reshape(len(nan), rows, -1).any(axis=(0, 2))
            self.nan_rows += int(by_row.sum())
        self.minimum, self.maximum = np.minimum(self.minimum, lowest), np.maximum(self.maximum, highest)
        if self.integral and not exact:
            probe = values[:, :1024]
            self.integral = bool((probe == np.rint(probe)).all()) and bool((values == np.rint(values)).all())
        means = values.mean(axis=1)
        values -= means[:, None]
        squares = np.einsum("ij,ij->i", values, values)
        total = self.count + good
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(total > 0, good / np.maximum(total, 1), 0.0)
        shift = means - self.mean
        self.squares += squares + shift**2 * self.count * share
        self.mean += shift * share
        self.count = total


def profile_array(name: str, array: Array, *, duplicates: bool = True) -> ArrayProfile:
    """Returns the profile of a numeric, boolean or text array of any rank.

    Memory beyond the array itself stays within a few chunks of 2²⁰ values. Histogram, duplicates over a million rows and
    distinct values of arrays over 20 million values come from evenly spaced rows.
    """
    table = array.reshape(1) if array.ndim == 0 else array
    profile = ArrayProfile(name=name, shape=tuple(array.shape), dtype=_dtype(array), values=int(array.size))
    if duplicates and array.ndim and array.size:
        profile = replace(profile, duplicate_rows=repeated(row_hashes(sample_rows(array, HASHED_ROWS))))
    if array.dtype.kind not in "iufb" or not array.size:
        return profile
    columns = table.shape[-1] if table.ndim > 1 and 1 < table.shape[-1] <= MAX_COLUMNS else 1
    sums = _Sums.empty(columns)
    for part, rows in _chunks(table, columns):
        sums.add(part, rows)
    count = float(sums.count.sum())
    if not count:
        return replace(profile, nan=sums.nan, infinite=sums.infinite, nan_rows=sums.nan_rows)
    mean = float((sums.mean * sums.count).sum() / count)
    squares = float((sums.squares + (sums.mean - mean) ** 2 * sums.count).sum())
    known = sums.count > 0
    low, high = float(sums.minimum[known].min()), float(sums.maximum[known].max())
    edges, counts = _histogram(table, low, high)
    return replace(
        profile,
        minimum=low,
        maximum=high,
        mean=mean,
        std=float(np.sqrt(squares / count)),
        nan=sums.nan,
        infinite=sums.infinite,
        nan_rows=sums.nan_rows,
        zero_fraction=sums.zeros / max(1, sums.values),
        integral=sums.integral,
        distinct_values=distinct(table),
        features=_features(table, sums) if columns > 1 else None,
        constant_features=_constant(table, sums, columns),
        histogram_edges=edges,
        histogram_counts=counts,
    )


def sample_rows(array: Array, most: int) -> Array:
    """At most `most` evenly spaced rows, in order; a view."""
    return array[:: max(1, -(-len(array) // max(1, most)))]


def distinct(array: Array) -> tuple[float, ...]:
    """All different finite values, sorted, when there are at most 64; else ()."""
    per_row = max(1, array[:1].size)
    if array.size > EXACT_DISTINCT_VALUES:
        array = sample_rows(array, EXACT_DISTINCT_VALUES // per_row)
    known: Array = np.empty(0)
    flat = array.reshape(-1)
    step = 4096
    start = 0
    while start < flat.size:
        part = flat[start : start + step]
        start, step = start + step, min(step * 4, CHUNK_VALUES)
        if part.dtype.kind == "f":
            part = part[np.isfinite(part)]
        if known.size and np.isin(part, known).all():
            continue
        known = np.union1d(known, part)
        if known.size > MAX_DISTINCT:
            return ()
    return tuple(float(value) for value in known)


def _chunks(table: Array, columns: int) -> Iterator[tuple[Array, int]]:
    """Yields contiguous (columns, values) parts, values of one row side by side, with their number of rows."""
    per_row = max(1, table[:1].size)
    if per_row > 4 * CHUNK_VALUES and table.ndim > 1:
        for row in range(len(table)):
            yield np.ascontiguousarray(table[row].reshape(-1, columns).T), 1
        return
    step = max(1, CHUNK_VALUES // per_row)
    for start in range(0, len(table), step):
        part = table[start : start + step]
        yield np.ascontiguousarray(part.reshape(-1, columns).T), len(part)


def _features(table: Array, sums: _Sums) -> Features:
    columns = len(sums.mean)
    rows = sample_rows(table, 4 * SAMPLE_VALUES // max(1, table[:1].size)) if table.ndim > 2 else table
    sample = np.sort(sample_rows(rows.reshape(-1, columns), min(20_000, max(1, 4 * SAMPLE_VALUES // columns))), axis=0)
    different = (sample[1:] != sample[:-1]).sum(axis=0) + 1
    known = sums.count > 0
    spread = np.sqrt(sums.squares / np.maximum(sums.count, 1))

    def plain(values: Array) -> tuple[float, ...]:
        return tuple(float(value) for value in np.where(known, values, np.nan))

    return Features(
        minimum=plain(sums.minimum),
        maximum=plain(sums.maximum),
        mean=plain(sums.mean),
        std=plain(spread),
        distinct=tuple(int(value) for value in different),
    )


def _constant(table: Array, sums: _Sums, columns: int) -> tuple[int, ...]:
    if len(table) < 2 or (columns == 1 and table.ndim > 2):
        return ()
    same = (sums.minimum == sums.maximum) & (sums.count > 0)
    return tuple(int(index) for index in np.flatnonzero(same))


def _histogram(table: Array, low: float, high: float) -> tuple[tuple[float, ...], tuple[int, ...]]:
    per_row = max(1, table[:1].size)
    sample = sample_rows(table, max(1, SAMPLE_VALUES // per_row)).reshape(-1)
    if sample.size > 2 * SAMPLE_VALUES:
        sample = sample[:: -(-sample.size // SAMPLE_VALUES)]
    sample = sample.astype(np.float64)
    sample = sample[np.isfinite(sample)]
    if not np.isfinite(high - low):
        return (), ()
    top = high if high > low else low + 1.0
    counts, edges = np.histogram(sample, bins=BINS, range=(low, top))
    return tuple(float(edge) for edge in edges), tuple(int(count) for count in counts)


def _dtype(array: Array) -> str:
    return "string" if array.dtype.kind in "US" else str(array.dtype)


_CHUNK_BYTES = 8 << 20


def row_hashes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Returns shape (rows,). Every 8 bytes are mixed with their place and summed, so memory stays at one chunk.

    Source: the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    """
    rows = array.shape[0]
    found = np.zeros(rows, np.uint64)
    row_bytes = array[:1].nbytes
    if not rows or not row_bytes:
        return found
    words = -(-row_bytes // 8)
    place = np.arange(words, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    step = max(1, _CHUNK_BYTES // (words * 8))
    for start in range(0, rows, step):
        part = np.ascontiguousarray(array[start : start + step]).reshape(min(step, rows - start), -1)
        content = part.view(np.uint8).reshape(len(part), -1)
        if row_bytes % 8:
            content = np.pad(content, ((0, 0), (0, words * 8 - row_bytes)))
        mixed = content.view(np.uint64) + place
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found[start : start + len(part)] = (mixed ^ (mixed >> np.uint64(31))).sum(axis=1, dtype=np.uint64)
    return found


def repeated(hashes: npt.NDArray[np.uint64]) -> int:
    """Rows that equal an earlier row."""
    ordered = np.sort(hashes)
    return int((ordered[1:] == ordered[:-1]).sum())


def conflicting(inputs: npt.NDArray[np.uint64], targets: npt.NDArray[np.uint64]) -> int:
    """Rows whose input equals an earlier row's while their target differs from that row's."""
    _, first, group = np.unique(inputs, return_index=True, return_inverse=True)
    return int((targets != targets[first][group]).sum())
