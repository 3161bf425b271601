"""Every way a worker can end has a status and a sentence with its phase."""

from __future__ import annotations

import signal

from stethoscope.codec import plain
from stethoscope.framework_errors import HostAccount
from stethoscope.jobs.endings import Ending, Verdict, going_on, tell
from stethoscope.sizes import human_bytes
from stethoscope.types import Budget, Job, Progress, Status
from tests.answers import recorded
from tests.tables import each

LIMIT = 1 << 30


def ending(**changes):
    known = {
        "job": Job("predict", {}, {}, Budget(LIMIT, 10)),
        "exit_code": 0,
        "signal_number": 0,
        "progress": Progress("predict", 0.5, "batch 2 of 3"),
        "peak_bytes": 0,
        "log_tail": "",
        "killed": None,
        "answer": None,
        "partial": None,
    }
    return Ending(**(known | changes))


@each(
    ("changes", "status"),
    [
        ({"signal_number": signal.SIGSEGV}, Status.CRASHED),
        ({"signal_number": signal.SIGSEGV, "peak_bytes": LIMIT * 9 // 10}, Status.OUT_OF_MEMORY),
        ({"signal_number": signal.SIGABRT, "log_tail": "terminate: std::bad_alloc"}, Status.OUT_OF_MEMORY),
        ({"signal_number": signal.SIGABRT}, Status.CRASHED),
        ({"signal_number": signal.SIGKILL, "peak_bytes": LIMIT}, Status.OUT_OF_MEMORY),
        ({"signal_number": signal.SIGKILL}, Status.CRASHED),
        ({"signal_number": signal.SIGKILL, "kernel_killed": True}, Status.OUT_OF_MEMORY),
        ({"signal_number": signal.SIGKILL, "host_short": True}, Status.OUT_OF_MEMORY),
        ({"signal_number": signal.SIGSEGV, "partial": {"loading_peak_bytes": LIMIT}}, Status.OUT_OF_MEMORY),
        ({"signal_number": signal.SIGSEGV, "host_short": True}, Status.CRASHED),
        ({"signal_number": signal.SIGXCPU}, Status.TIMED_OUT),
        ({"exit_code": 1}, Status.CRASHED),
        ({"exit_code": 1, "log_tail": "MemoryError: Unable to allocate 3 GiB"}, Status.OUT_OF_MEMORY),
        ({"killed": Verdict(Status.CANCELLED, "Cancelled.")}, Status.CANCELLED),
        ({"answer": {"status": "ok", "value": recorded("predict")["value"]}}, Status.OK),
        ({"answer": {"status": "refused", "value": {}, "reason": "no", "error": "UnsafeFile"}}, Status.REFUSED),
        ({"answer": {"status": "made up", "value": {}}}, Status.CRASHED),
        ({"answer": {"status": "ok", "value": [1]}}, Status.CRASHED),
        ({"answer": {"status": "ok", "value": {}}, "signal_number": signal.SIGKILL}, Status.CRASHED),
    ],
)
def test_each_ending_has_a_status(changes, status):
    assert tell(ending(**changes)).status is status


def test_an_answer_that_is_none_of_its_kind_is_not_used():
    asked = Job("label_doubts", {}, {}, Budget(LIMIT, 10))
    good = tell(ending(job=asked, answer={"status": "ok", "value": {"possible": False, "accuracy": "nan"}}))
    assert (good.status, good.value["possible"]) == (Status.OK, False)
    forged = {"possible": True, "doubts": [{"place": "../../etc", "given": {}}]}
    bad = tell(ending(job=asked, answer={"status": "ok", "value": forged}, partial={"rows": 3}))
    assert (bad.status, bad.value) == (Status.CRASHED, {"rows": 3}) and "doubts.0.place" in bad.reason


def test_what_was_being_done_is_named_and_clipped():
    died = tell(ending(signal_number=signal.SIGSEGV))
    assert "“predict” (batch 2 of 3)" in died.reason
    assert len(Progress("predict", None, "x" * 5000).where) < 120


def test_a_death_names_its_phase_and_keeps_what_was_known():
    told = tell(ending(signal_number=signal.SIGSEGV, progress=Progress("load"), partial={"probes": {"1": 5}}))
    assert "“load”" in told.reason
    assert "SIGSEGV" in told.reason
    assert told.value["probes"] == {"1": 5}
    assert told.value["oom"]["certain"] is False
    assert told.value["oom"]["phase"] == "load"


def test_out_of_memory_names_peak_and_limit():
    told = tell(ending(signal_number=signal.SIGKILL, peak_bytes=LIMIT))
    assert "1 GiB" in told.reason


@each(
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


FORETOLD = {
    "weights_bytes": 3 << 30,
    "weight": {"operator": "dense", "shape": [4096, 8192], "bytes": 128 << 20},
    "output": {"operator": "wide", "shape": [None, None, 64], "item_bytes": 4},
}


@each(
    ("phase", "partial", "tensor", "setting"),
    [
        ("load", {}, ([4096, 8192], 128 << 20, "dense"), "memory_limit_bytes"),
        ("trace", {}, ([1, None, 64], None, "wide"), "memory_limit_bytes"),
        ("predict", {"settings": {"dynamic_size": 16}}, ([8, 16, 64], 8 * 16 * 64 * 4, "wide"), "batch_size"),
        ("sweep", {"running": {"batch_size": 6}}, ([6, None, 64], None, "wide"), "batch_size"),
        ("collect", {"oom": {"largest_samples_estimate": 40}}, ([8, None, 64], None, "wide"), "samples"),
    ],
)
def test_a_worker_that_said_nothing_has_the_largest_tensor_of_its_phase(phase, partial, tensor, setting):
    job = Job("predict", {}, {"settings": {"batch_size": 8}}, Budget(LIMIT, 10))
    killed = Verdict(Status.OUT_OF_MEMORY, "Stopped.")
    oom = tell(ending(job=job, killed=killed, progress=Progress(phase), partial=partial, foretold=FORETOLD)).value[
        "oom"
    ]
    assert (oom["tensor_shape"], oom["tensor_bytes"], oom["operator"]) == tensor
    assert oom["tensor_from"] == "expected"
    assert oom["change"][0]["setting"] == setting
    assert oom["advice"]


@each("phase", ["convert", "write", "keep"])
def test_what_converts_is_short_of_memory_for_the_weights_and_not_for_an_output(phase):
    job = Job("convert", {}, {"target": "tflite"}, Budget(LIMIT, 10))
    killed = Verdict(Status.OUT_OF_MEMORY, "Stopped.")
    told = tell(ending(job=job, killed=killed, progress=Progress(phase), foretold=FORETOLD))
    oom = told.value["oom"]
    assert (oom["tensor_shape"], oom["tensor_bytes"], oom["operator"]) == (None, None, "")
    assert human_bytes(FORETOLD["weights_bytes"]) in told.reason and "wide" not in told.reason
    assert oom["change"][0]["setting"] == "memory_limit_bytes"


def test_the_machines_account_is_in_the_report_and_what_fits_is_what_was_left():
    host = HostAccount(
        available_bytes=100 << 20,
        floor_bytes=200 << 20,
        usable_bytes=4 << 30,
        this_job_bytes=500 << 20,
        other_jobs=2,
        other_jobs_bytes=300 << 20,
        app_bytes=200 << 20,
        rest_bytes=3 << 30,
    )
    partial = {"probes": {"1": 60 << 20, "2": 70 << 20, "4": 90 << 20}, "settings": {"batch_size": 64}}
    killed = Verdict(Status.OUT_OF_MEMORY, "Stopped.", "host", host)
    told = tell(ending(killed=killed, partial=partial, peak_bytes=500 << 20))
    oom = told.value["oom"]
    assert oom["host"] == plain(host)
    # 400 MiB were its own: 50 and 10 for each row.
    assert 28 <= oom["largest_batch_estimate"]["low"] <= 35 <= oom["largest_batch_estimate"]["high"] <= 44
    assert {"setting": "STETHOSCOPE_JOB_SLOTS", "to": 2} in oom["change"]
    assert "other programs" in oom["advice"]


@each(
    "said",
    [
        {"partial": {"oom": 3, "probes": {"x": "y"}, "settings": [], "running": 1}},
        {"partial": {"oom": {"tensor_shape": "everything", "batch_size": -1, "largest_batch_estimate": {"low": "x"}}}},
        {"foretold": {"weight": {"shape": 1}, "output": 5, "weights_bytes": "many"}},
        {"foretold": {"weight": {"operator": 5, "shape": ["a"], "bytes": None}}},
    ],
)
def test_what_a_hostile_worker_left_does_not_stop_the_report(said):
    for phase in ("load", "predict"):
        told = tell(ending(killed=Verdict(Status.OUT_OF_MEMORY, "Stopped."), progress=Progress(phase), **said))
        assert told.status is Status.OUT_OF_MEMORY
        assert told.value["oom"]["limit_bytes"] == LIMIT


STATE = {"runs": [1, 2]}


@each(
    ("changes", "status"),
    [
        ({"answer": {"goes_on": True, "peak_rss_bytes": 7}}, Status.OK),
        ({"signal_number": signal.SIGKILL, "peak_bytes": LIMIT}, Status.OUT_OF_MEMORY),
        ({"killed": Verdict(Status.OUT_OF_MEMORY, "Stopped.")}, Status.OUT_OF_MEMORY),
        ({"answer": {"status": "out_of_memory", "value": {}, "reason": "no room"}}, Status.OUT_OF_MEMORY),
    ],
)
def test_a_job_whose_task_handed_over_goes_on(changes, status):
    before = going_on(ending(handed_over=STATE, **changes))
    assert (before.status, before.state) == (status, STATE)
    assert going_on(ending(**changes)) is None


@each(
    "changes",
    [
        {"killed": Verdict(Status.CANCELLED, "Cancelled.")},
        {"killed": Verdict(Status.TIMED_OUT, "Stopped.")},
        {"killed": Verdict(Status.OUT_OF_MEMORY, "The machine ran out.", "host")},
        {"signal_number": signal.SIGSEGV},
        {"exit_code": 1},
        {"answer": {"status": "failed", "value": {}, "reason": "no"}},
        {"answer": {"goes_on": True}, "signal_number": signal.SIGSEGV},
    ],
)
def test_what_else_ends_a_process_ends_its_job(changes):
    assert going_on(ending(handed_over=STATE, **changes)) is None


def test_the_peak_of_a_job_is_that_of_all_its_processes():
    assert tell(ending(killed=Verdict(Status.CANCELLED, "no"), peak_bytes=3, peak_before_bytes=9)).peak_bytes == 9
