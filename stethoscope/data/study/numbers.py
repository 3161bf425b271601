"""Numbers and dates as a whole: exact sums and bounds, histograms and quantiles, rows per stretch of time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

BINS = 40
MAX_DISTINCT = 50
_QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


@dataclass(frozen=True)
class Histogram:
    """Counts between edges, one more edge than counts; both empty where the range is beyond a float."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Numbers:
    """How numbers are distributed; what finite values alone tell is None where there are none."""

    count: int = 0
    """Finite values."""
    nan: int = 0
    infinite: int = 0
    zeros: int = 0
    whole: bool = True
    """Whether all are whole numbers."""
    mean: float | None = None
    std: float | None = None
    min: float | None = None
    max: float | None = None
    quantiles: Mapping[str, float] = field(default_factory=dict)
    """By their part: "0.5" is the median."""
    histogram: Histogram | None = None
    sampled: bool = False
    """Whether quantiles and histogram are of a part of the values."""
    distinct: int | None = None
    """None where there are more than `MAX_DISTINCT`."""
    study: Literal["number"] = "number"


class NumberStudy:
    """One field of numbers, or all values of an array."""

    def __init__(self, seed: int = 0) -> None:
        self._sample = Reservoir(seed=seed)
        self._count, self._mean, self._squares = 0, 0.0, 0.0
        self._low, self._high = np.inf, -np.inf
        self._nan = self._infinite = self._zeros = 0
        self._whole = True
        self._distinct: set[float] | None = set()

    def add(self, values: npt.NDArray[Any]) -> None:
        """More values, of any shape; NaN and infinities are counted apart.

        Source: Chan, Golub and LeVeque (1979), combination of means and squared deviations.
        """
        flat = np.asarray(values).ravel()
        if flat.dtype.kind not in "fiub" or not flat.size:
            return
        flat = flat.astype(np.float64, copy=False)
        finite = np.isfinite(flat)
        if not finite.all():
            nan = int(np.isnan(flat).sum())
            self._nan += nan
            self._infinite += int(flat.size - finite.sum()) - nan
            flat = flat[finite]
            if not flat.size:
                return
        self._zeros += int(flat.size - np.count_nonzero(flat))
        self._low, self._high = min(self._low, float(flat.min())), max(self._high, float(flat.max()))
        mean = float(flat.mean())
        shift, total = mean - self._mean, self._count + flat.size
        self._squares += float(((flat - mean) ** 2).sum()) + shift**2 * self._count * flat.size / total
        self._mean += shift * flat.size / total
        self._count = total
        self._whole = self._whole and bool((flat == np.rint(flat)).all())
        if self._distinct is not None:
            self._distinct.update(np.unique(flat[:: max(1, flat.size // 4096)])[: MAX_DISTINCT + 1].tolist())
            if len(self._distinct) > MAX_DISTINCT:
                self._distinct = None
        self._sample.add(flat if flat.size <= 1 << 20 else flat[:: flat.size >> 20])

    @property
    def constant(self) -> bool:
        """Whether every value is the same."""
        return self._count > 0 and self._low == self._high and not self._nan

    @property
    def nan(self) -> int:
        """How many values are NaN."""
        return self._nan

    def result(self) -> Numbers:
        """What was found."""
        if not self._count:
            return Numbers(nan=self._nan, infinite=self._infinite, whole=self._whole)
        sample = np.sort(self._sample.values)
        return Numbers(
            count=self._count,
            nan=self._nan,
            infinite=self._infinite,
            zeros=self._zeros,
            whole=self._whole,
            mean=self._mean,
            std=float(np.sqrt(self._squares / self._count)),
            min=self._low,
            max=self._high,
            quantiles={f"{part:g}": float(np.quantile(sample, part)) for part in _QUANTILES},
            histogram=histogram(sample, self._low, self._high, whole=self._whole),
            sampled=not self._sample.complete,
            distinct=None if self._distinct is None else len(self._distinct),
        )


def histogram(values: npt.NDArray[Any], low: float, high: float, *, whole: bool) -> Histogram:
    """At most `BINS` bins; one bin per number where whole numbers are few."""
    if low == high:
        edges = np.array([low - 0.5, high + 0.5])
    elif whole and high - low < BINS:
        edges = np.arange(low - 0.5, high + 1)
    elif not np.isfinite(high - low):
        return Histogram((), ())
    else:
        edges = np.linspace(low, high, BINS + 1)
    counts, edges = np.histogram(values, edges)
    return Histogram(tuple(edges.tolist()), tuple(counts.tolist()))


SIZE = 50_000
"""Values kept of one field: their quantiles are within about half a per cent of rank."""


class Reservoir:
    """Keeps `size` of the values it is given.

    Source: algorithm R in batches (Vitter, 1985): value number n replaces a kept one with probability size / n.
    """

    def __init__(self, size: int = SIZE, seed: int = 0) -> None:
        self._kept: npt.NDArray[Any] | None = None
        self._size, self._generator = size, np.random.default_rng(seed)
        self.seen = 0

    def add(self, values: npt.NDArray[Any]) -> None:
        """Shows it more values, along the first dimension."""
        if not len(values):
            return
        if self._kept is None:
            self._kept = np.empty((0, *values.shape[1:]), values.dtype)
        free = self._size - len(self._kept)
        if free > 0:
            self._kept = np.concatenate([self._kept, values[:free]])
            self.seen += min(free, len(values))
            values = values[free:]
        if len(values):
            numbers = self.seen + 1 + np.arange(len(values))
            places = (self._generator.random(len(values)) * numbers).astype(np.int64)
            chosen = places < self._size
            self._kept[places[chosen]] = values[chosen]
            self.seen += len(values)

    @property
    def values(self) -> npt.NDArray[Any]:
        """What is kept, in no order that means anything; empty before anything was added."""
        return np.zeros(0) if self._kept is None else self._kept

    @property
    def complete(self) -> bool:
        """Whether nothing was left out."""
        return self.seen <= self._size


_FORMS = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%y")


class DateReader:
    """Reads dates and times in words; the form that has served before is tried first, so that 3/4 is read alike in every row."""

    def __init__(self) -> None:
        self._form = ""

    def read(self, text: str) -> datetime | None:
        """The moment, UTC where the text names no zone; None where it cannot be read."""
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            return self._otherwise(text.split("T", maxsplit=1)[0].split(" ", maxsplit=1)[0])
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def _otherwise(self, day: str) -> datetime | None:
        for form in (self._form, *_FORMS) if self._form else _FORMS:
            try:
                found = datetime.strptime(day, form).replace(tzinfo=UTC)
            except ValueError:
                continue
            self._form = form
            return found
        return None


@dataclass(frozen=True)
class Dates:
    """From when to when; times as ISO 8601, UTC."""

    missing: int
    unread: int
    """Texts that are no dates."""
    first: str | None
    last: str | None
    seconds: Numbers
    """Since 1970."""
    study: Literal["date"] = "date"


class DateStudy:
    """A field of dates written as text."""

    def __init__(self) -> None:
        self._seconds = NumberStudy()
        self._missing = self._unread = 0
        self._reader = DateReader()

    def add(self, texts: Iterable[str]) -> None:
        """More values; empty ones are missing."""
        found = []
        for text in texts:
            plain = text.strip()
            if not plain or plain.lower() in ("nan", "nat", "none"):
                self._missing += 1
            elif (moment := self._reader.read(plain)) is None:
                self._unread += 1
            else:
                found.append(moment.timestamp())
        if found:
            self._seconds.add(np.array(found, np.float64))

    def result(self) -> Dates:
        """What was found."""
        seconds = replace(self._seconds.result(), whole=False)
        return Dates(self._missing, self._unread, _iso(seconds.min), _iso(seconds.max), seconds)


def _iso(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
