"""Measuring the peak of small batches, to tell the peak of larger ones before they are run. Used in a worker.

A model that does nothing, with the inputs of another: what it costs is the framework's. Used in a worker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stethoscope.errors import CannotRun
from stethoscope.framework_errors import explain, gist
from stethoscope.memory.call_styles import Caller
from stethoscope.memory.fit import POINTS, PeakFit
from stethoscope.memory.run_settings import give_back
from stethoscope.models.capabilities import LiveModel
from stethoscope.task import TaskContext
from stethoscope.types import Feed, Refusal, Runner

ENOUGH_ROWS = 8
"""Below, a kernel's workspace for each thread hides the slope."""
SIGNAL_BYTES = 64 << 20
"""Growth over the smallest probe below which the slope is taken from a larger batch."""
STEADY_FRACTION, SURE_FRACTION = 0.06, 0.15
"""Probing goes on while the last two slopes differ by more than the first; slow probing, by more than the second."""
BUDGET_FRACTION = 0.6
"""Probing stops before the batch expected to need more than this share of the memory limit."""
PROBE_S, TOTAL_S = 5.0, 40.0
"""Probing stops before the next batch takes longer, unless the slope is still unsure, and before all together do; but not
before `FEWEST` batches."""
FEWEST, UNSURE_FRACTION, LONGEST_S = 3, 0.25, 90.0
"""Two batches make no line that could be trusted, nor do slopes that differ by more than this; then all may take so long."""
SLOW_S, QUICK_S, QUICK_CALLS = 1.0, 0.1, 3
"""A slower call is not made twice, unless the first traced; a quicker one is made this often."""


@dataclass(frozen=True)
class Probe:
    """One small batch, called again and again: the first call may trace or compile, the others do not."""

    rows: int
    first_peak_bytes: int
    peaks_bytes: tuple[int, ...]
    """Of each call after the first; of the first where it is the only one."""
    held_bytes: int
    """Memory held before the calls, the batch among it."""
    settled_bytes: int
    """The same between them: the first leaves what it traced, and a runtime that has grown."""
    output_bytes: int
    traced: bool
    """Whether the first call traced anew."""
    time_s: float

    @property
    def peak_bytes(self) -> int:
        """The highest of the calls after the first."""
        return max(self.peaks_bytes)

    @property
    def added_bytes(self) -> int:
        """What a call that traces nothing needs beyond what was held: the mean of the calls."""
        return sum(self._added) // len(self._added)

    @property
    def spread_bytes(self) -> int:
        """By how much the call that needed most lies above the mean."""
        return max(self._added) - self.added_bytes

    @property
    def _added(self) -> list[int]:
        first = [] if self.traced else [self.first_peak_bytes - self.held_bytes]
        return [max(0, added) for added in (*first, *(peak - self.settled_bytes for peak in self.peaks_bytes))]

    @property
    def tracing_bytes(self) -> int:
        """What tracing or compiling needs beyond the call itself."""
        return max(0, self.first_peak_bytes - self.held_bytes - self.added_bytes) if self.traced else 0

    def peak_of(self, tracing_bytes: int) -> int:
        """The peak of a first run of this size, where every size is traced anew at such a price; 0 where none is."""
        if not tracing_bytes and self.traced:
            return self.peak_bytes
        return max(self.first_peak_bytes, self.peak_bytes + (0 if self.traced else tracing_bytes))


def calibrate(
    context: TaskContext,
    call: Caller,
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
        batch_size: the batch asked about; probes take at most half of it, but
            two rows where two are asked about, three where four are, and three quarters of it for programs compiled by XLA.
        held_input_bytes: of input the process holds besides what `rows` makes, to be left out of the peaks.
        fixed: rows in every call where the model insists on a number: the only probe.
    """
    give_back()
    loading_peak = context.memory.peak_bytes()
    probes: dict[int, Probe] = {}
    start, input_row_bytes = time.perf_counter(), 0.0

    def measure(size: int) -> None:
        nonlocal input_row_bytes
        feed = rows(size)
        input_row_bytes = sum(array.nbytes for array in feed.values()) / size
        probes[size] = probe(context, call, feed, size)
        context.memory.enforce()  # with what it mapped and did not touch

    for size in _sizes(batch_size, fixed, compiled=call.compiles):
        context.report("measure", message=f"peak memory at batch {size}")
        try:
            measure(size)
            if size == 2 and probes[2].traced:
                measure(1)  # one row ran through a function made for one row only
        except Exception as error:
            if explain(error) is None:
                raise
            break
        if fixed or _enough(list(probes.values()), 2 * size, context.budget.memory_bytes, time.perf_counter() - start):
            break
    if not probes:
        return None
    known = list(probes.values())
    # Relaxed shapes are traced twice at most; what is traced at the third size is traced at every one.
    anew = call.compiles or (len(known) > 2 and known[-1].traced)
    traced = [found.tracing_bytes for found in known if found.traced][-POINTS:] if anew else []
    tracing = sum(traced) // max(1, len(traced))
    give_back()
    held = max(0, context.memory.added_bytes() - held_input_bytes)
    # Programs left behind and a growing runtime are in what is held: only what a call adds is compared.
    added = {found.rows: found.added_bytes + tracing for found in known}
    return PeakFit(
        {rows: int(held + rows * input_row_bytes + more) for rows, more in added.items()},
        input_row_bytes=input_row_bytes,
        output_row_bytes=known[-1].output_bytes / known[-1].rows,
        loading_peak_bytes=max(loading_peak, *(found.first_peak_bytes for found in known)),
        tracing_bytes=tracing,
        held_bytes=held,
        spread_bytes=max(found.spread_bytes for found in known[-POINTS:]),
    )


def _sizes(batch_size: int, fixed: int | None, *, compiled: bool) -> Iterator[int]:
    """Rows to probe: doubling up to half the batch. One row is often run by other kernels, so three are wanted for a line.

    XLA chooses its algorithms for each size: a program compiled for three quarters of the rows is likelier to be the same.
    """
    if fixed is not None:
        yield fixed
        return
    yield from (1, 2) if batch_size > 1 else (1,)
    if 4 <= batch_size < 8:
        yield 3
    size = 4
    while size <= batch_size // 2:
        yield size
        size *= 2
    if compiled and batch_size >= ENOUGH_ROWS:
        yield 3 * batch_size // 4


def probe(context: TaskContext, call: Caller, feed: Feed, rows: int) -> Probe:
    """Calls the model on a feed, measures the first call and those after it; a slow one that traced nothing does for all.

    What runs side by side decides what is alive at once, so a quick call is made several times.
    """
    traces = call.traces
    give_back()
    held, (first_peaks, output_bytes, time_s) = context.memory.added_bytes(), _measured(context, call, feed)
    traced, first_peak = call.traces != traces, first_peaks[0]
    if not traced and time_s > SLOW_S:
        return Probe(rows, first_peak, first_peaks, held, held, output_bytes, False, time_s)
    give_back()
    calls = 1 if time_s > QUICK_S else QUICK_CALLS
    settled, (peaks, output_bytes, time_s) = context.memory.added_bytes(), _measured(context, call, feed, calls)
    return Probe(rows, first_peak, peaks, held, settled, output_bytes, traced, time_s)


def _measured(context: TaskContext, call: Caller, feed: Feed, calls: int = 1) -> tuple[tuple[int, ...], int, float]:
    """The peak of each of some calls, the bytes of the outputs of one, and its time."""
    give_back()
    peaks, output_bytes, time_s = [], 0, 0.0
    for _ in range(calls):
        context.memory.reset()
        start = time.perf_counter()
        output_bytes = sum(array.nbytes for array in call(feed).values())
        time_s += time.perf_counter() - start
        peaks.append(context.memory.peak_bytes())
    return tuple(peaks), output_bytes, time_s / calls


def _enough(probes: list[Probe], following: int, limit_bytes: int, taken_s: float) -> bool:
    last = probes[-1]
    added = {probe.rows: probe.added_bytes for probe in probes}
    expected = 2 * added[last.rows] if len(probes) == 1 else PeakFit(added).predict(following)
    if last.held_bytes + expected > BUDGET_FRACTION * limit_bytes:
        return True
    sure = len(probes) >= FEWEST and _steady(probes, UNSURE_FRACTION)
    if taken_s + 4 * last.time_s > (TOTAL_S if sure else LONGEST_S):
        return True
    if len(probes) < FEWEST:
        return False
    if 2 * last.time_s > PROBE_S and _steady(probes, SURE_FRACTION):
        return True
    growth = added[last.rows] - min(added.values())
    return last.rows >= ENOUGH_ROWS and growth >= SIGNAL_BYTES and _steady(probes, STEADY_FRACTION)


def _steady(probes: list[Probe], fraction: float) -> bool:
    """Whether the last two slopes agree."""
    first, second, third = probes[-3:]
    before = (second.added_bytes - first.added_bytes) / (second.rows - first.rows)
    after = (third.added_bytes - second.added_bytes) / (third.rows - second.rows)
    return abs(after - before) <= fraction * max(abs(after), 1.0)


def trivial(runner: Runner) -> Runner | None:
    """A runner of a model that hands its inputs on; None for files that hold no Keras model.

    Raises:
        CannotRun: Keras cannot make it from these inputs.
    """
    live = runner.can(LiveModel)
    if isinstance(live, Refusal):
        return None
    keras = live.keras
    try:
        given = [
            keras.Input(batch_shape=spec.shape, dtype=spec.dtype or "float32", name=spec.name) for spec in runner.inputs
        ]
        passed = [keras.layers.Identity(dtype=tensor.dtype)(tensor) for tensor in given]
        model = keras.Model(given, passed)
    except Exception as error:
        raise CannotRun(
            f"A control model: expected Keras to build one from these inputs, got “{gist(error)}”."
        ) from error
    return live.replaced(model)
