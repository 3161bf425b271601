"""One row of the answer: a model called in one style on batches of one size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from stethoscope.latency.spread import Spread


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
        return replace(self, **spread.to_json(), rows_per_s=self.batch_size / spread.p50_s, reason=spread.reason)


def about_threads(rows: Sequence[Row]) -> Iterator[str]:
    """Yields a warning where the runtimes of rows with times had different numbers of threads."""
    used = {row.runtime: row.threads for row in rows if row.p50_s is not None}
    if len(set(used.values())) > 1:
        each = ", ".join(f"{runtime} with {number}" for runtime, number in used.items())
        yield f"The runtimes computed with different numbers of threads: {each}. Choose a number to compare them alike."
