"""Measuring the peak of small batches, to tell the peak of larger ones before they are run. Used in a worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stethoscope.memory.allocation import give_back
from stethoscope.memory.fit import PeakFit
from stethoscope.out_of_memory import explain
from stethoscope.types import Feed, TaskContext

ENOUGH_ROWS = 8
"""Below, a kernel's workspace for each thread hides the slope."""
SIGNAL_BYTES = 64 << 20
"""Growth over the smallest probe below which the slope is taken from a larger batch."""
STEADY_FRACTION = 0.06
"""Probing goes on while the last two slopes differ by more than this."""
BUDGET_FRACTION = 0.6
"""Probing stops before the batch expected to need more than this share of the memory limit."""
PROBE_S, TOTAL_S = 5.0, 40.0
"""Probing stops when one batch, or all together, took longer."""


@dataclass(frozen=True)
class Probe:
    """One small batch, called twice: the first call may trace or compile, the second does not."""

    rows: int
    first_peak_bytes: int
    peak_bytes: int
    held_bytes: int
    """Memory held before the calls."""
    output_bytes: int
    traced: bool
    """Whether the first call traced anew."""
    time_s: float

    def peak_of(self, *, traced_anew: bool) -> int:
        """The peak of a run of this size: with tracing, where every size is traced anew."""
        return max(self.first_peak_bytes, self.peak_bytes) if traced_anew else self.peak_bytes


def calibrate(
    context: TaskContext,
    call: Callable[[Feed], Mapping[str, Any]],
    rows: Callable[[int], Feed],
    batch_size: int,
    *,
    held_input_bytes: int = 0,
    fixed: int | None = None,
) -> PeakFit | None:
    """Measures small batches, doubling, until the line through the last of them is steady.

    None when not even one row fits.

    Args:
        context: the running job; its meter measures, its budget bounds.
        call: runs the model once on a feed, in the call style that is asked about.
        rows: a feed of so many rows, made anew.
        batch_size: the batch asked about; probes take at most half of it.
        held_input_bytes: of input the process holds besides what `rows` makes, to be left out of the peaks.
        fixed: rows in every call where the model insists on a number: the only probe.
    """
    give_back()
    loading_peak = context.memory.peak_bytes()
    probes: list[Probe] = []
    size, start, input_bytes = fixed or 1, time.perf_counter(), 0
    while size <= max(fixed or 1, batch_size // 2):
        context.report("measure", message=f"peak memory at batch {size}")
        feed = rows(size)
        input_bytes = sum(array.nbytes for array in feed.values())
        try:
            probes.append(probe(context, call, feed, size))
        except Exception as error:
            if explain(error) is None:
                raise
            break
        del feed
        if fixed or _enough(probes, 2 * size, context.budget.memory_bytes) or time.perf_counter() - start > TOTAL_S:
            break
        size *= 2
    if not probes:
        return None
    # Relaxed shapes are traced twice at most; what is traced at the third size is traced at every one.
    anew = len(probes) > 2 and probes[-1].traced
    peaks = {p.rows: max(0, p.peak_of(traced_anew=anew) - held_input_bytes) for p in probes}
    return PeakFit(
        peaks,
        input_row_bytes=input_bytes / probes[-1].rows,
        output_row_bytes=probes[-1].output_bytes / probes[-1].rows,
        loading_peak_bytes=max(loading_peak, *(p.first_peak_bytes for p in probes)),
        traced_anew=anew,
    )


def probe(context: TaskContext, call: Callable[[Feed], Mapping[str, Any]], feed: Feed, rows: int) -> Probe:
    """Calls the model twice on a feed and measures each."""
    traces = getattr(call, "traces", None)
    held, (first_peak, _, _) = context.memory.added_bytes(), _measured(context, call, feed)
    traced = getattr(call, "traces", None) != traces
    peak, output_bytes, time_s = _measured(context, call, feed)
    return Probe(rows, first_peak, peak, held, output_bytes, traced, time_s)


def _measured(context: TaskContext, call: Callable[[Feed], Mapping[str, Any]], feed: Feed) -> tuple[int, int, float]:
    give_back()
    context.memory.reset()
    start = time.perf_counter()
    outputs = call(feed)
    time_s = time.perf_counter() - start
    return context.memory.peak_bytes(), sum(array.nbytes for array in outputs.values()), time_s


def _enough(probes: list[Probe], following: int, limit_bytes: int) -> bool:
    last = probes[-1]
    peaks = {probe.rows: probe.peak_bytes for probe in probes}
    expected = 2 * last.peak_bytes - last.held_bytes if len(probes) == 1 else PeakFit(peaks).predict(following)
    if expected > BUDGET_FRACTION * limit_bytes or 2 * last.time_s > PROBE_S:
        return True
    growth = last.peak_bytes - min(peaks.values())
    return last.rows >= ENOUGH_ROWS and growth >= SIGNAL_BYTES and _steady(probes)


def _steady(probes: list[Probe]) -> bool:
    """Whether the last two slopes agree."""
    first, second, third = probes[-3:]
    before = (second.peak_bytes - first.peak_bytes) / (second.rows - first.rows)
    after = (third.peak_bytes - second.peak_bytes) / (third.rows - second.rows)
    return abs(after - before) <= STEADY_FRACTION * max(abs(after), 1.0)
