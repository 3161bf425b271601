"""One row of the answer: a model called in one style on batches of one size.

Many times of one call as percentiles: only those that so many calls can tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Row:
    """One model called in one style on batches of one size. Times in seconds."""

    model: str
    role: str
    format: str
    runtime: str
    call: str
    device: str
    threads: int
    batch_size: int
    calls: int = 0
    first_call_s: float | None = None
    p50_s: float | None = None
    p90_s: float | None = None
    p99_s: float | None = None
    mean_s: float | None = None
    rows_per_s: float | None = None
    """Of the median call."""
    peak_bytes: int | None = None
    """With what the model holds, without its input."""
    reason: str = ""

    def timed(self, spread: Spread) -> Row:
        """With its times."""
        return replace(self, **vars(spread), rows_per_s=self.batch_size / spread.p50_s)


@dataclass(frozen=True)
class TimedModel:
    """What is known of a model as a whole."""

    role: str
    name: str
    format: str
    """The id of its format; "" where that was not recognised."""
    runtime: str
    size_bytes: int | None
    """On disk, with the weights that lie beside it; None where it cannot be read."""
    parameters: int | None
    load_s: float | None
    peak_bytes: int | None
    reason: str
    """Why it could not be opened; "" where it could."""


def about_threads(rows: Sequence[Row]) -> Iterator[str]:
    """Yields a warning where the runtimes of rows with times had different numbers of threads."""
    used = {row.runtime: row.threads for row in rows if row.p50_s is not None}
    if len(set(used.values())) > 1:
        each = ", ".join(f"{runtime} with {number}" for runtime, number in used.items())
        yield f"The runtimes computed with different numbers of threads: {each}. Choose a number to compare them alike."


ENOUGH_FOR_P99, ENOUGH_FOR_P90 = 100, 10
"""Calls below which a percentile is the slowest call and nothing else."""


@dataclass(frozen=True)
class Spread:
    """Times of one call in seconds."""

    calls: int
    p50_s: float
    p90_s: float | None
    p99_s: float | None
    mean_s: float
    reason: str = ""
    """Why a percentile is missing; "" where none is."""

    @classmethod
    def of(cls, times_ns: Sequence[int]) -> Spread:
        """Percentiles by linear interpolation between the two nearest calls.

        Args:
            times_ns: at least one, in nanoseconds.

        Source: numpy.percentile, method "linear".
        """
        seconds = np.asarray(times_ns, np.float64) / 1e9
        calls = len(seconds)
        p50, p90, p99 = (float(one) for one in np.percentile(seconds, (50, 90, 99)))
        missing = [
            f"p{place} needs at least {enough} calls"
            for place, enough in ((90, ENOUGH_FOR_P90), (99, ENOUGH_FOR_P99))
            if calls < enough
        ]
        reason = f"{' and '.join(missing)}; {calls:,} fitted into the time. Give it more seconds." if missing else ""
        return cls(
            calls,
            p50,
            p90 if calls >= ENOUGH_FOR_P90 else None,
            p99 if calls >= ENOUGH_FOR_P99 else None,
            float(seconds.mean()),
            reason,
        )
