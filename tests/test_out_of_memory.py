"""Out of memory in every phase and by every mechanism: a report, and nobody else notices."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sample_models import BUILT
from sample_models.canonical import save_keras
from stethoscope.jobs.host_memory import HostMemory
from stethoscope.jobs.job_engine import Engine
from stethoscope.jobs.running import _anonymous_bytes
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status
from tests.small_models import tiny_onnx
from tests.waiting import until

MIB = 1 << 20
PHASES = ("load", "trace", "predict", "collect")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, Path]:
    """One for each phase in which it needs most: weights to load, a first row, a batch, outputs to join."""
    import keras

    folder, layers = tmp_path_factory.mktemp("models"), keras.layers
    heavy = layers.Dense(8192, kernel_initializer="ones", name="heavy")
    # One row becomes 400 MB, whatever the batch.
    wide = [
        layers.Reshape((1, 1, 1)),
        layers.UpSampling2D(10_000, name="wide"),
        layers.GlobalAveragePooling2D(name="mean"),
    ]
    made = {
        "load": [keras.Input((8192,), name="x"), heavy],
        "trace": [keras.Input((1,), name="x"), *wide],
        "collect": [keras.Input((1,), name="x"), layers.RepeatVector(1_000_000, name="repeat")],
    }
    found = {
        phase: save_keras(keras.Sequential(parts, name=phase), folder / f"{phase}.keras")
        for phase, parts in made.items()
    }
    return found | {"predict": BUILT / "memory_hungry.keras"}


REQUESTS: dict[str, tuple[int, dict[str, Any]]] = {
    "load": (300 * MIB, {"batch_size": 1}),
    "trace": (300 * MIB, {"batch_size": 1}),
    "predict": (700 * MIB, {"batch_size": 64, "samples": 64}),
    "collect": (600 * MIB, {"batch_size": 10, "samples": 100}),
}
"""Of each phase: the limit that is too little for it, and what is asked."""
by_workers = pytest.mark.usefixtures("live_engine")


def request(models: dict[str, Path], phase: str, memory_bytes: int) -> Job:
    files = {"model": ModelFile.at(models[phase])}
    return Job("predict", files, REQUESTS[phase][1], Budget(memory_bytes, 180), "tensorflow")


class Neighbour:
    """A job that calls its model again and again while others run out of memory."""

    def __init__(self, engine: Engine, path: Path) -> None:
        self._engine, self._path, self._job_id, self._servers = engine, path, "", {}

    def start(self) -> None:
        if not self._job_id or self._engine.state(self._job_id).done:
            self.end()
            params = {"settings": {"batch_size": 2}, "seconds": 25}
            job = Job("share", {"model": ModelFile.at(self._path)}, params, Budget(512 * MIB, 120))
            self._job_id = self._engine.submit(job)
        until(lambda: self._calls() > 0)
        self._servers = self._engine.server_pids()

    def check(self) -> None:
        """It goes on, or has ended well; and no worker server was lost."""
        before = self._calls()
        until(lambda: self._calls() > before or self._engine.state(self._job_id).done)
        lost = {kind for kind, pid in self._servers.items() if self._engine.server_pids()[kind] != pid}
        assert not lost

    def end(self) -> None:
        if self._job_id:
            result = self._engine.wait(self._job_id, 60)
            assert result.status is Status.OK, result.reason
            assert result.value["outputs_same"] is True

    def _calls(self) -> float:
        state = self._engine.state(self._job_id)
        if state.result is not None:
            assert state.result.status is Status.OK, state.result.reason
            return float("inf") if state.done else 0
        found = re.fullmatch(r"call ([\d,]+)", state.progress.message)
        return float(found[1].replace(",", "")) if found else 0.0


@pytest.fixture(scope="module")
def neighbour(engine, tmp_path_factory) -> Iterator[Neighbour]:
    made = Neighbour(engine, tiny_onnx(tmp_path_factory.mktemp("neighbour") / "tiny.onnx"))
    yield made
    made.end()


def held_bytes(engine: Engine, but: int = 0) -> int:
    """What the workers of an engine hold beyond their servers."""
    running = list(engine._supervisor._running.values())
    return sum(one.held_bytes for one in running if one.pid != but)


def pid_in(engine: Engine, job_id: str, phases: tuple[str, ...]) -> int:
    """The process of a job once it is in one of these phases."""

    def there() -> bool:
        state = engine.state(job_id)
        assert not state.done, state.result
        running = engine._supervisor._running.get(job_id)
        return state.progress.phase in phases and running is not None and running.pid is not None

    until(there)
    pid = engine._supervisor._running[job_id].pid
    assert pid
    return pid


def check_report(result: JobResult, phase: str, mechanism: str) -> dict[str, Any]:
    """What every report has."""
    oom = result.value["oom"]
    assert oom["mechanism"] == mechanism
    assert result.phase == oom["phase"]
    assert result.phase in {"load": ("read", "load"), "collect": ("collect", "save")}.get(phase, (phase,))
    assert f"“{result.phase}”" in result.reason or oom["advice"] or result.reason
    assert oom["peak_bytes"] == result.peak_rss_bytes > 0
    assert oom["limit_bytes"] > 0
    assert oom["tensor_from"] in ("error", "expected")
    assert oom["tensor_shape"] or oom["operator"]
    assert oom["advice"]
    assert all(change["setting"] for change in oom["change"])
    return oom


@pytest.mark.parametrize("phase", PHASES)
def test_the_jobs_own_limit(engine, models, neighbour, phase):
    neighbour.start()
    limit = REQUESTS[phase][0]
    result = engine.wait(engine.submit(request(models, phase, limit)), 180)
    assert result.status is Status.OUT_OF_MEMORY, result.reason
    oom = check_report(result, phase, "limit")
    assert oom["certain"] is True
    assert result.error == "OutOfMemory"
    assert oom["limit_bytes"] == limit
    assert result.peak_rss_bytes < 1.3 * limit + 64 * MIB
    if phase == "load":
        assert oom["operator"] == "heavy"
        assert oom["tensor_shape"] == [8192, 8192]
        (change,) = oom["change"]
        assert change["setting"] == "memory_limit_bytes"
        assert change["to"] > limit
    if phase == "trace":
        assert oom["tensor_shape"] == [1, 10_000, 10_000, 1]
        assert "the first call" in oom["advice"]
    if phase == "predict":
        fits = oom["largest_batch_estimate"]
        assert 1 <= fits["low"] <= fits["high"] < 64
        assert oom["change"][0] == {"setting": "batch_size", "to": fits["low"]}
    if phase == "collect":
        assert "fewer rows" in oom["advice"]
        (change,) = oom["change"]
        assert change["setting"] == "samples"
        assert 10 <= change["to"] < 100
    neighbour.check()


@pytest.mark.parametrize("phase", ["load", "trace", "predict", "collect"])
def test_what_is_advised_then_works(engine, models, phase):
    """For the limit: the same job with the one setting changed that the report names."""
    result = engine.wait(engine.submit(request(models, phase, REQUESTS[phase][0])), 180)
    limit, params = REQUESTS[phase][0], dict(REQUESTS[phase][1])
    changes = {change["setting"]: change["to"] for change in result.value["oom"]["change"]}
    if changes.get("batch_size"):
        params["batch_size"] = params["samples"] = changes["batch_size"]
    elif changes.get("samples"):
        params["samples"] = changes["samples"]
    else:
        limit = changes.get("memory_limit_bytes") or 4 * limit
    job = Job("predict", {"model": ModelFile.at(models[phase])}, params, Budget(limit, 180), "tensorflow")
    again = engine.wait(engine.submit(job), 180)
    assert again.status is Status.OK, again.reason


@by_workers
@pytest.mark.parametrize(
    ("phase", "number"),
    [
        ("predict", signal.SIGKILL),
        ("collect", signal.SIGABRT),
        ("load", signal.SIGSEGV),
        *(pytest.param(phase, signal.SIGKILL, marks=pytest.mark.sweep) for phase in ("load", "trace", "collect")),
        pytest.param("predict", signal.SIGABRT, marks=pytest.mark.sweep),
    ],
)
def test_a_worker_that_is_killed_from_outside(engine, models, neighbour, phase, number):
    neighbour.start()
    job_id = engine.submit(request(models, phase, 4096 * MIB))
    wanted = {"collect": ("collect", "save"), "predict": ("predict", "measure")}.get(phase, (phase,))
    os.kill(pid_in(engine, job_id, wanted), number)
    result = engine.wait(job_id, 60)
    # Far below its limit, and the kernel has counted no kill: memory is one possible cause of several.
    assert result.status is Status.CRASHED, result.reason
    assert number.name in result.reason
    oom = check_report(result, result.phase, "kill" if number == signal.SIGKILL else "limit")
    assert result.phase in wanted
    assert oom["certain"] is False
    assert "memory runs out" in result.reason
    neighbour.check()


@by_workers
@pytest.mark.parametrize("phase", [pytest.param("load", marks=pytest.mark.sweep), "predict"])
def test_a_worker_killed_while_the_machine_has_nothing_left_ran_out_of_memory(
    engine, models, neighbour, monkeypatch, phase
):
    """The kernel is quicker than the watch, as when another program takes the last of it."""
    neighbour.start()
    host = HostMemory(100 * MIB, lambda: 150 * MIB)  # enough not to be ended by us, too little to be well
    monkeypatch.setattr(engine._supervisor, "_host", host)
    job_id = engine.submit(request(models, phase, 4096 * MIB))
    os.kill(pid_in(engine, job_id, (phase, "measure") if phase == "predict" else (phase,)), signal.SIGKILL)
    result = engine.wait(job_id, 60)
    assert result.status is Status.OUT_OF_MEMORY
    oom = check_report(result, result.phase, "kill")
    assert oom["certain"] is True
    assert "kernel ended" in result.reason
    neighbour.check()


@contextlib.contextmanager
def control_group(limit_bytes: int) -> Iterator[Path]:
    """A control group with so much memory; the test is skipped where none can be made."""
    for root, name in (
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
        (Path("/sys/fs/cgroup"), "memory.max"),
    ):
        folder = root / f"stethoscope-test-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            (folder / name).write_text(str(limit_bytes))
            yield folder
            return
        except FileNotFoundError:
            continue
        finally:
            until(lambda folder=folder: _removed(folder), 10)
    pytest.skip("no control group can be made here")


def _removed(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        folder.rmdir()
    return not folder.exists()


@by_workers
def test_the_kernels_own_killer(engine, models, neighbour):
    neighbour.start()
    with control_group(300 * MIB) as group:
        job_id = engine.submit(request(models, "trace", 4096 * MIB))
        pid = pid_in(engine, job_id, ("starting", "configure", "read", "load"))
        (group / "cgroup.procs").write_text(str(pid))
        result = engine.wait(job_id, 120)
    assert result.status is Status.OUT_OF_MEMORY, result.reason
    oom = check_report(result, "trace", "kill")
    assert oom["certain"] is True
    assert "kernel" in result.reason
    neighbour.check()


@by_workers
@pytest.mark.parametrize(
    "phase", ["trace", "collect", *(pytest.param(phase, marks=pytest.mark.sweep) for phase in ("load", "predict"))]
)
def test_a_machine_that_runs_out(engine, models, neighbour, monkeypatch, phase):
    """A machine with 400 MiB left when the job starts, and a job with a limit far above that."""
    neighbour.start()
    room = held_bytes(engine) + {"collect": 500 * MIB}.get(phase, 400 * MIB)
    host = HostMemory(100 * MIB, lambda: room - held_bytes(engine))
    monkeypatch.setattr(engine._supervisor, "_host", host)
    result = engine.wait(engine.submit(request(models, phase, 4096 * MIB)), 180)
    assert result.status is Status.OUT_OF_MEMORY, result.reason
    oom = check_report(result, result.phase, "host")
    # Measuring comes before predicting: on such a machine small batches are too much already.
    assert (
        result.phase
        in {
            "load": ("load",),
            "trace": ("trace", "measure"),
            "predict": ("measure", "predict"),
            "collect": ("predict", "collect", "save"),
        }[phase]
    )
    assert "machine ran out" in result.reason
    account = oom["host"]
    assert account["available_bytes"] < account["floor_bytes"] == 100 * MIB
    assert 64 * MIB < account["this_job_bytes"] < oom["limit_bytes"]
    assert account["other_jobs"] <= 1  # the neighbour may be done by now
    assert account["app_bytes"] > 0
    assert any(change["setting"] == "STETHOSCOPE_JOB_SLOTS" for change in oom["change"]) is bool(account["other_jobs"])
    neighbour.check()


@by_workers
def test_the_machines_own_reading_ends_only_who_holds_memory(engine, models, neighbour, monkeypatch):
    neighbour.start()
    monkeypatch.setattr(engine._supervisor, "_host", HostMemory(1 << 60))
    result = engine.wait(engine.submit(request(models, "load", 4096 * MIB)), 60)
    assert (result.status, result.value["oom"]["mechanism"]) == (Status.OUT_OF_MEMORY, "host")
    neighbour.check()


@by_workers
def test_workers_are_ended_by_the_kernel_before_anything_else(engine, models):
    job_id = engine.submit(request(models, "load", 4096 * MIB))
    pid = pid_in(engine, job_id, ("load",))
    assert int(Path(f"/proc/{pid}/oom_score_adj").read_text()) >= 800
    assert int(Path(f"/proc/{engine.server_pids()['tensorflow']}/oom_score_adj").read_text()) < 800
    assert _anonymous_bytes(pid)
    engine.cancel(job_id)
    assert engine.wait(job_id, 60).status is Status.CANCELLED


def test_weights_beyond_the_limit_are_not_loaded(engine, models):
    result = engine.wait(engine.submit(request(models, "load", 200 * MIB)), 60)
    assert result.status is Status.OUT_OF_MEMORY
    oom = check_report(result, "load", "limit")
    assert oom["weight_bytes"] > 200 * MIB
    assert oom["operator"] == "heavy"
    assert result.peak_rss_bytes < 100 * MIB
