"""Many times of one call as percentiles: only those that so many calls can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
