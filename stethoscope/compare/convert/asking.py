"""What source and target answer to the rows on which they are compared, how long that takes, and how much memory."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import numpy as np

from stethoscope.data.batching import Batching, in_calls
from stethoscope.models.model_format import Ends
from stethoscope.models.quantisation import dequantised, quantised
from stethoscope.task import MemoryMeter
from stethoscope.types import Feed, Runner

_COMPARED_S = 1.0
"""What a call of the rows that are compared may take, where nobody says how many; of one row, whatever it takes."""
_CALLS, _TIMED_S = 7, 0.5


@dataclass(frozen=True)
class Answered:
    """What a model answered to some rows, as real numbers."""

    outputs: Feed
    again: Feed
    """To the same rows, from another call."""
    time_s: float
    """For all rows: the median of a few calls."""
    peak_bytes: int
    """Of a call, above what was held before."""


class Remembering:
    """A runner whose last answer need not be computed again."""

    def __init__(self, runner: Runner) -> None:
        self._runner, self.inputs = runner, tuple(runner.inputs)
        self._last: tuple[Feed, Feed] | None = None

    def predict(self, feed: Feed) -> Feed:
        """As the runner does."""
        self._last = feed, self._runner.predict(feed)
        return self._last[1]

    def answer(self, feed: Feed) -> Feed | None:
        """What it answered last, if that was to this feed."""
        if self._last is None or self._last[0].keys() != feed.keys():
            return None
        same = all(np.array_equal(array, feed[name]) for name, array in self._last[0].items())
        return self._last[1] if same else None


def measured_in_time(
    runner: Runner, asked: Remembering, feed: Feed, batching: Batching, ends: Ends, memory: MemoryMeter
) -> tuple[Feed, Answered]:
    """(rows, what it answers to them): as many of a feed as take little time, but one at least.

    Args:
        runner: the model.
        asked: the same, which may know the answer to the first of the rows.
        feed: any number of rows.
        batching: of the model's inputs.
        ends: how they stand for real numbers.
        memory: measures the call.
    """
    rows, at_once = batching.rows(feed), batching.fixed or 1
    if rows <= at_once:
        return feed, measured(runner, feed, ends, memory)
    first = batching.part(feed, 0, at_once)
    known = asked.answer(quantised(first, runner.inputs, ends.inputs))
    found = measured(runner, first, ends, memory, known, calls=1)
    rows = min(rows, at_once * int(_COMPARED_S / max(found.time_s, 1e-9)))
    if rows <= at_once:
        return first, found
    feed = batching.part(feed, 0, rows)
    return feed, measured(runner, feed, ends, memory)


def measured(
    runner: Runner, feed: Feed, ends: Ends, memory: MemoryMeter, known: Feed | None = None, *, calls: int = _CALLS
) -> Answered:
    """What a model answers, and what that takes; as if it had seen no row before.

    Args:
        runner: the model.
        feed: real numbers, any number of rows.
        ends: how its inputs and outputs stand for real numbers.
        memory: measures the first call.
        known: its outputs for these rows, where it has answered them before.
        calls: at most so many are timed.
    """
    batching = Batching.of(runner.inputs)
    fed = quantised(feed, runner.inputs, ends.inputs)
    runner.forget()
    memory.reset()
    held = memory.added_bytes()
    outputs = in_calls(runner.predict, fed, batching) if known is None else known
    peak = memory.peak_bytes()
    runner.forget()
    again, times = outputs, list[float]()
    while len(times) < calls and sum(times) < _TIMED_S:
        start = time.perf_counter()
        answered = in_calls(runner.predict, fed, batching)
        times.append(time.perf_counter() - start)
        again = again if len(times) > 1 else answered
    if known is not None:
        peak = memory.peak_bytes()
    return Answered(
        dequantised(outputs, ends.outputs),
        dequantised(again, ends.outputs),
        statistics.median(times),
        max(0, peak - held),
    )
