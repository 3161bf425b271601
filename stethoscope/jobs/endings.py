"""Every way a worker can end, as a Status and a sentence. Dying is an answer."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from stethoscope.codec import plain
from stethoscope.framework_errors import HostAccount, Mechanism, mentions
from stethoscope.jobs import protocol
from stethoscope.sizes import human_bytes
from stethoscope.task import Before, misfit
from stethoscope.types import Job, Progress, Status

_SIGNALS_OF_MEMORY = {signal.SIGABRT, signal.SIGSEGV, signal.SIGKILL, signal.SIGBUS}


@dataclass(frozen=True)
class Verdict:
    """Why the parent killed a job, when it did."""

    status: Status
    reason: str
    mechanism: Mechanism = "limit"
    """What had run out, for one that was out of memory."""
    host: HostAccount | None = None
    """Who had the machine's memory, when that ran out."""


@dataclass(frozen=True)
class Ending:
    """What is known when a worker's process has ended."""

    job: Job
    exit_code: int
    signal_number: int
    progress: Progress
    peak_bytes: int
    log_tail: str
    killed: Verdict | None
    answer: Mapping[str, Any] | None
    partial: Mapping[str, Any] | None
    foretold: Mapping[str, Any] = field(default_factory=dict)
    """The largest tensors that the worker expected."""
    kernel_killed: bool = False
    """Whether the kernel counted a kill for memory while the job ran."""
    handed_over: Mapping[str, Any] | None = None
    """From what state another process could go on."""
    peak_before_bytes: int = 0
    """The most that an earlier process of the job added."""
    host_short: bool = False
    """Whether the machine had next to no memory left when it was last looked at."""


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
    told = _told(ending)
    return replace(told, peak_bytes=max(told.peak_bytes, ending.peak_before_bytes))


def _told(ending: Ending) -> Told:
    partial = ending.partial or {}
    if ending.killed is not None:
        told = Told(ending.killed.status, partial, ending.killed.reason, "", ending.peak_bytes)
        if told.status is not Status.OUT_OF_MEMORY:
            return told
        return _reported(ending, replace(told, error="OutOfMemory"), ending.killed.mechanism, advise=True)
    if ending.answer is not None and ending.exit_code == 0 and ending.signal_number == 0:
        return _of_answer(ending, _from_answer(ending, ending.answer, partial))
    where = ending.progress.where
    limit = human_bytes(ending.job.budget.memory_bytes)
    if ending.signal_number == signal.SIGXCPU:
        reason = (
            f"Stopped {where}: it used more processor time than its {ending.job.budget.timeout_s:g} s limit allows."
        )
        return Told(Status.TIMED_OUT, partial, reason, "", ending.peak_bytes)
    held = replace(ending, peak_bytes=_highest(ending.peak_bytes, partial))
    peak = human_bytes(held.peak_bytes)
    if _killed_for_the_machine(ending):
        reason = (
            f"The machine ran out of memory {where}, and its kernel ended the worker: it had added {peak} of the {limit} "
            "it may."
        )
        told = Told(Status.OUT_OF_MEMORY, partial, reason, "OutOfMemory", held.peak_bytes)
        return _reported(held, told, "kill", advise=True)
    if _looks_out_of_memory(held):
        reason = f"Memory ran out {where}: it had added {peak} when it ended; the limit is {limit}."
        told = Told(Status.OUT_OF_MEMORY, partial, reason, "OutOfMemory", held.peak_bytes)
        return _reported(held, told, "limit", advise=True)
    if ending.exit_code and os.strerror(errno.ENOSPC) in ending.log_tail:
        return Told(Status.FAILED, partial, protocol.DISK_FULL, "QuotaExceeded", ending.peak_bytes)
    how = _signal_name(ending.signal_number) if ending.signal_number else f"exit code {ending.exit_code}"
    reason = f"The worker crashed {where} ({how}). Nothing else was affected. "
    if ending.signal_number not in _SIGNALS_OF_MEMORY:
        reason += "The file may be damaged or hit a runtime bug."
        return Told(Status.CRASHED, partial, reason, "", ending.peak_bytes)
    if ending.signal_number == signal.SIGKILL:
        reason += (
            f"Something outside ended it; that is done when memory runs out, but it had added only {peak} of {limit}."
        )
    else:
        reason += (
            "The file may be damaged or hit a runtime bug; frameworks also end like this when memory runs out, but it "
            f"had added only {peak} of {limit}."
        )
    told = Told(Status.CRASHED, partial, reason, "", held.peak_bytes)
    return _reported(held, told, "kill" if ending.signal_number == signal.SIGKILL else "limit", certain=False)


def _of_answer(ending: Ending, told: Told) -> Told:
    """What the worker said; in the parent's words where all it knew was that memory ran out."""
    if told.status is not Status.OUT_OF_MEMORY:
        return told
    if told.reason:
        return _reported(ending, told, "limit")
    limit = human_bytes(ending.job.budget.memory_bytes)
    reason = (
        f"Memory ran out {ending.progress.where}: it had added {human_bytes(told.peak_bytes)}; the limit is {limit}."
    )
    return _reported(ending, replace(told, reason=reason), "limit", advise=True)


def going_on(ending: Ending) -> Before | None:
    """What another process of this job is to know; None where the job is over.

    A task that handed its state over goes on where it asked to, and where its process ran out of memory. What its user, its
    time or a crash ended is over, and so it is where the machine runs out: another process would take what is not there.
    """
    if ending.handed_over is None:
        return None
    answer = ending.answer or {}
    clean = ending.killed is None and ending.exit_code == 0 and ending.signal_number == 0
    if clean and answer.get("goes_on") is True:
        measured = answer.get("peak_rss_bytes")
        peak = max(ending.peak_bytes, measured if isinstance(measured, int) else 0)
        return Before(ending.handed_over, peak_bytes=peak)
    told = _told(ending)
    ran_out = told.status is Status.OUT_OF_MEMORY and not (ending.killed and ending.killed.mechanism == "host")
    return Before(ending.handed_over, told.status, told.reason, told.peak_bytes) if ran_out else None


def _reported(ending: Ending, told: Told, mechanism: Mechanism, *, certain: bool = True, advise: bool = False) -> Told:
    """Adds the report under "oom", and its tensor and advice to the reason where the worker could not give its own."""
    from stethoscope.jobs.shortage import report_on, tensor_sentence  # what it takes is imported where memory ran out

    host = ending.killed.host if ending.killed else None
    report = report_on(
        ending.job,
        mechanism,
        ending.progress.phase,
        told.peak_bytes,
        told.value,
        ending.foretold,
        certain=certain,
        host=host,
    )
    reason = told.reason
    if advise:
        tensor = tensor_sentence(report)
        reason = " ".join(part for part in (reason, f"{tensor}." if tensor else "", report.advice) if part)
    return replace(told, value={**told.value, "oom": plain(report)}, reason=reason)


def _highest(seen_bytes: int, partial: Mapping[str, Any]) -> int:
    """The peak as looked at from outside, or as the worker had measured it by then, between two looks."""
    probes = partial.get("probes")
    measured = [partial.get("loading_peak_bytes"), *(probes.values() if isinstance(probes, Mapping) else ())]
    return max([seen_bytes, *(size for size in measured if isinstance(size, int) and size < 1 << 60)])


def _killed_for_the_machine(ending: Ending) -> bool:
    return ending.signal_number == signal.SIGKILL and (ending.kernel_killed or ending.host_short)


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
    peak = max(ending.peak_bytes, ending.peak_before_bytes, measured if isinstance(measured, int) else 0)
    if status is Status.OK and (wrong := misfit(ending.job.kind, value)):
        return Told(Status.CRASHED, partial, f"{wrong} Nothing of it was used.", "", ending.peak_bytes)
    merged = value if status is Status.OK else {**partial, **value}
    return Told(status, merged, str(answer.get("reason", ""))[:2000], str(answer.get("error", ""))[:100], peak)


def _looks_out_of_memory(ending: Ending) -> bool:
    if ending.signal_number not in _SIGNALS_OF_MEMORY and ending.exit_code == 0:
        return False
    limit = ending.job.budget.memory_bytes
    partial = ending.partial or {}
    foretold, running = partial.get("predicted_peak_bytes"), partial.get("running")
    # A framework whose allocation is refused may die at once, long before its memory shows.
    expected = isinstance(foretold, int) and foretold > limit
    expected = expected or (isinstance(running, Mapping) and running.get("above") is True)
    died = ending.signal_number in _SIGNALS_OF_MEMORY
    return mentions(ending.log_tail) or (died and (expected or ending.peak_bytes >= 0.8 * limit))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
