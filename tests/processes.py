"""How long processes go on, in a measure that is the same beside others' work."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil


def gone(process: psutil.Process) -> bool:
    """Whether a process has ended, be it reaped or not."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@contextmanager
def ended_within(processor_s: float, *processes: psutil.Process, timeout_s: float = 60.0) -> Iterator[None]:
    """What is done inside ends processes that never rest before each has worked for so many seconds more.

    Of a process that never rests the processor's seconds are at most the clock's; what others do makes them fewer for it and
    for what ends it alike.
    """
    before = [_worked_s(process) for process in processes]
    yield
    last, end = list(before), time.monotonic() + timeout_s
    while not all(map(gone, processes)):
        assert time.monotonic() < end, "it did not end"
        for place, process in enumerate(processes):
            with contextlib.suppress(psutil.Error):
                last[place] = max(last[place], _worked_s(process))
        time.sleep(0.01)
    worked_on = [after - start for after, start in zip(last, before, strict=True)]
    assert max(worked_on) < processor_s, worked_on


def _worked_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
