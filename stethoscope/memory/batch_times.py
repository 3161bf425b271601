"""Times of batches whose peaks are known, taken afterwards: measuring memory slows what it measures."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from stethoscope.memory.allocation import keeping_freed
from stethoscope.memory.call_styles import Caller
from stethoscope.memory.points import Point, named
from stethoscope.out_of_memory import explain
from stethoscope.task import TaskContext
from stethoscope.types import Feed, Status

TIMED, TIMED_S, SLOWEST_S = 5, 0.5, 20.0
"""A batch is timed this often, as long as it all takes no longer; once, unless it is slower than the last."""
KEEPING_FRACTION = 0.25
"""Of the limit, what the largest batch may need for times to be taken with freed memory kept."""


def take_times(
    context: TaskContext, call: Caller, points: Sequence[Point], rows_of: Callable[[Point], Feed]
) -> Iterator[tuple[int, Point]]:
    """Yields (place, the point with its time) for each point that ran.

    The process keeps what it freed, as an ordinary one does; what it keeps is no peak. Where some batch came near the
    limit, what is kept might be what is missing: there freed memory is given back.
    """
    peaks = [point.measured_peak_bytes or 0 for point in points]
    keeping = max(peaks, default=0) < KEEPING_FRACTION * context.budget.memory_bytes
    context.memory.enforce()
    with keeping_freed() if keeping else contextlib.nullcontext():
        for place, point in enumerate(points):
            if point.time_per_sample_s is None or point.status is not Status.OK:
                continue
            context.report("time", place / len(points), named(point.batch_size, point.size))
            try:
                time_s = _best_time(call, rows_of(point), point.time_per_sample_s * point.batch_size)
            except Exception as error:
                if explain(error) is None:
                    raise
                continue  # it ran within the limit once: its time is the one it had then
            yield place, replace(point, time_per_sample_s=time_s / point.batch_size)
    context.memory.enforce()


def _best_time(call: Callable[[Feed], object], rows: Feed, known_s: float) -> float:
    """The best of a few calls; a very slow call keeps the time it had while it was measured."""
    times = [known_s]
    while times[0] < SLOWEST_S and (len(times) == 1 or (len(times) < TIMED and sum(times) + times[-1] < TIMED_S)):
        start = time.perf_counter()
        call(rows)
        times.append(time.perf_counter() - start)
    return min(times)
