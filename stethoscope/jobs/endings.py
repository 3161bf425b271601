"""Every way a worker can end, as a Status and a sentence. Dying is an answer."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stethoscope import protocol
from stethoscope.out_of_memory import mentions
from stethoscope.sizes import human_bytes
from stethoscope.types import Job, Status

_SIGNALS_OF_MEMORY = {signal.SIGABRT, signal.SIGSEGV, signal.SIGKILL, signal.SIGBUS}


@dataclass(frozen=True)
class Verdict:
    """Why the parent killed a job, when it did."""

    status: Status
    reason: str


@dataclass(frozen=True)
class Ending:
    """What is known when a worker's process has ended."""

    job: Job
    exit_code: int
    signal_number: int
    phase: str
    peak_bytes: int
    log_tail: str
    killed: Verdict | None
    answer: Mapping[str, Any] | None
    partial: Mapping[str, Any] | None


@dataclass(frozen=True)
class Told:
    """An ending in the terms of `JobResult`."""

    status: Status
    value: Mapping[str, Any]
    reason: str
    error: str
    peak_bytes: int


def tell(ending: Ending) -> Told:
    """Returns what to say about `ending`: the worker's own answer if it gave a valid one, else what its death means."""
    partial = ending.partial or {}
    if ending.killed is not None:
        return Told(ending.killed.status, partial, ending.killed.reason, "", ending.peak_bytes)
    if ending.answer is not None and ending.exit_code == 0 and ending.signal_number == 0:
        return _from_answer(ending, ending.answer, partial)
    where = f"while in phase “{ending.phase}”"
    peak = human_bytes(ending.peak_bytes)
    limit = human_bytes(ending.job.budget.memory_bytes)
    if ending.signal_number == signal.SIGXCPU:
        reason = (
            f"Stopped {where}: it used more processor time than its {ending.job.budget.timeout_s:g} s limit allows."
        )
        return Told(Status.TIMED_OUT, partial, reason, "", ending.peak_bytes)
    if _looks_out_of_memory(ending):
        reason = f"Memory ran out {where}: it had added {peak} when it ended; the limit is {limit}."
        return Told(Status.OUT_OF_MEMORY, partial, reason, "OutOfMemory", ending.peak_bytes)
    if ending.exit_code and os.strerror(errno.ENOSPC) in ending.log_tail:
        return Told(Status.FAILED, partial, protocol.DISK_FULL, "QuotaExceeded", ending.peak_bytes)
    how = _signal_name(ending.signal_number) if ending.signal_number else f"exit code {ending.exit_code}"
    reason = (
        f"The worker crashed {where} ({how}). Nothing else was affected. The file may be damaged or hit a runtime bug."
    )
    return Told(Status.CRASHED, partial, reason, "", ending.peak_bytes)


def _from_answer(ending: Ending, answer: Mapping[str, Any], partial: Mapping[str, Any]) -> Told:
    value = answer.get("value")
    try:
        status = Status(str(answer.get("status")))
    except ValueError:
        status, value = Status.CRASHED, None
    if not isinstance(value, Mapping):
        return Told(
            Status.CRASHED, partial, "The worker's answer was not valid. Nothing of it was used.", "", ending.peak_bytes
        )
    measured = answer.get("peak_rss_bytes")
    peak = max(ending.peak_bytes, measured if isinstance(measured, int) else 0)
    merged = value if status is Status.OK else {**partial, **value}
    return Told(status, merged, str(answer.get("reason", ""))[:2000], str(answer.get("error", ""))[:100], peak)


def _looks_out_of_memory(ending: Ending) -> bool:
    if ending.signal_number not in _SIGNALS_OF_MEMORY and ending.exit_code == 0:
        return False
    limit = ending.job.budget.memory_bytes
    foretold = (ending.partial or {}).get("predicted_peak_bytes")
    # A framework whose allocation is refused may die at once, long before its memory shows.
    expected = isinstance(foretold, int) and foretold > limit
    died = ending.signal_number in _SIGNALS_OF_MEMORY
    return mentions(ending.log_tail) or (died and (expected or ending.peak_bytes >= 0.8 * limit))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
