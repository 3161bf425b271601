"""Every way a worker can end has a status and a sentence with its phase."""

from __future__ import annotations

import signal

import pytest

from stethoscope.jobs.endings import Ending, Verdict, tell
from stethoscope.sizes import human_bytes
from stethoscope.types import Budget, Job, Status

LIMIT = 1 << 30


def ending(**changes):
    known = {
        "job": Job("predict", {}, {}, Budget(LIMIT, 10)),
        "exit_code": 0,
        "signal_number": 0,
        "phase": "predict",
        "peak_bytes": 0,
        "log_tail": "",
        "killed": None,
        "answer": None,
        "partial": None,
    }
    return Ending(**(known | changes))


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"signal_number": signal.SIGSEGV}, Status.CRASHED),
        ({"signal_number": signal.SIGSEGV, "peak_bytes": LIMIT * 9 // 10}, Status.OUT_OF_MEMORY),
        ({"signal_number": signal.SIGABRT, "log_tail": "terminate: std::bad_alloc"}, Status.OUT_OF_MEMORY),
        ({"signal_number": signal.SIGABRT}, Status.CRASHED),
        ({"signal_number": signal.SIGKILL, "peak_bytes": LIMIT}, Status.OUT_OF_MEMORY),
        ({"signal_number": signal.SIGXCPU}, Status.TIMED_OUT),
        ({"exit_code": 1}, Status.CRASHED),
        ({"exit_code": 1, "log_tail": "MemoryError: Unable to allocate 3 GiB"}, Status.OUT_OF_MEMORY),
        ({"killed": Verdict(Status.CANCELLED, "Cancelled.")}, Status.CANCELLED),
        ({"answer": {"status": "ok", "value": {"a": 1}}}, Status.OK),
        ({"answer": {"status": "refused", "value": {}, "reason": "no", "error": "UnsafeFile"}}, Status.REFUSED),
        ({"answer": {"status": "made up", "value": {}}}, Status.CRASHED),
        ({"answer": {"status": "ok", "value": [1]}}, Status.CRASHED),
        ({"answer": {"status": "ok", "value": {}}, "signal_number": signal.SIGKILL}, Status.CRASHED),
    ],
)
def test_each_ending_has_a_status(changes, status):
    assert tell(ending(**changes)).status is status


def test_a_death_names_its_phase_and_keeps_what_was_known():
    told = tell(ending(signal_number=signal.SIGSEGV, phase="load", partial={"probes": {"1": 5}}))
    assert "“load”" in told.reason
    assert "SIGSEGV" in told.reason
    assert told.value == {"probes": {"1": 5}}


def test_out_of_memory_names_peak_and_limit():
    told = tell(ending(signal_number=signal.SIGKILL, peak_bytes=LIMIT))
    assert "1 GiB" in told.reason


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (1 << 30, "1 GiB"),
        (5000 << 30, "4.88 TiB"),
    ],
)
def test_sizes_read_well(size, text):
    assert human_bytes(size) == text
