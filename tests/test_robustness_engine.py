"""What must hold when things go wrong around jobs: nothing grows, nothing is left, every ending is an answer."""

from __future__ import annotations

import errno
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from stethoscope.errors import QuotaExceeded
from stethoscope.jobs import protocol
from stethoscope.jobs.job_engine import Engine
from stethoscope.jobs.running import RunningJob
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.small_models import endless_onnx, tiny_onnx
from tests.waiting import until

MIB = 1 << 20
PROJECT = Path(__file__).resolve().parents[1]
LEFT = {"final.json", "out"}

pytestmark = pytest.mark.usefixtures("live_engine")


def predict(path: Path, **params) -> Job:
    return Job("predict", {"model": ModelFile(path, path.name)}, params, Budget(1 << 30, 60))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    return tiny_onnx(tmp_path_factory.mktemp("models") / "tiny.onnx")


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_seventy_jobs_in_a_row_leave_no_process_descriptor_memory_or_file(engine, tiny):
    devices = Job("devices", {}, {}, Budget(1 << 30, 120), "tensorflow")

    def work(light: int, heavy: int) -> list[str]:
        wanted = [engine.submit(predict(tiny, batch_size=2, seed=seed), owner=f"o{seed % 4}") for seed in range(light)]
        wanted += [engine.submit(devices) for _ in range(heavy)]
        assert {engine.wait(job_id, 180).status for job_id in wanted} == {Status.OK}
        return wanted

    work(10, 2)
    # An earlier test may have left a job running.
    until(lambda: not engine.jobs(active=True))
    pids = [os.getpid(), *engine.server_pids().values()]
    # This process has run other tests: its heap may grow once for reasons of its own. What leaks grows in every round.
    for rounds_left in (2, 1, 0):
        gc.collect()
        before = {pid: (descriptors(pid), psutil.Process(pid).memory_info().rss) for pid in pids}
        jobs = work(60, 10)
        gc.collect()
        assert [os.getpid(), *engine.server_pids().values()] == pids, "a worker server was lost on the way"
        # No worker is left, and no zombie.
        until(lambda: not any(psutil.Process(pid).children() for pid in pids[1:]))
        more = {pid: descriptors(pid) - before[pid][0] for pid in pids}
        grown = {pid: psutil.Process(pid).memory_info().rss - before[pid][1] for pid in pids}
        if max(more.values()) <= 2 and max(grown.values()) <= 16 * MIB:
            break
        assert rounds_left, f"descriptors {more}, bytes {grown} in every round of 70 jobs"
    for job_id in jobs:
        assert {path.name for path in (engine._folder / "jobs" / job_id).iterdir()} <= LEFT


def test_whatever_a_killed_worker_was_writing_is_removed(engine, tmp_path):
    job_id = engine.submit(predict(endless_onnx(tmp_path / "endless.onnx"), batch_size=1))
    until(lambda: engine.state(job_id).progress.phase not in ("starting", "queued"))
    folder = engine._folder / "jobs" / job_id
    (folder / "partial.tmp").write_text('{"half')
    (folder / "junk").mkdir()
    (folder / "junk" / "link").symlink_to(tmp_path)
    (folder / "elsewhere").symlink_to(tmp_path)
    engine.cancel(job_id)
    assert engine.wait(job_id, 60).status is Status.CANCELLED
    assert {path.name for path in folder.iterdir()} <= LEFT
    assert (tmp_path / "endless.onnx").exists()


class Flooding:
    """A worker server whose worker never stops talking."""

    kind = "light"

    def send(self, _job_id, _folder, log, progress):
        self.processes = [
            subprocess.Popen(
                ["yes", "x" * 1000], stdout=descriptor, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
            )
            for descriptor in (log, progress)
        ]


def test_a_worker_that_floods_its_log_is_held_back_and_costs_nothing(tmp_path, tiny):
    server = Flooding()
    running = RunningJob("x", predict(tiny), tmp_path, server)
    try:
        start, longest = time.monotonic(), 0.0
        while time.monotonic() - start < 1.0:
            before = time.thread_time()  # of this thread alone, whatever else the machine does
            running.look()
            longest = max(longest, time.thread_time() - before)
            time.sleep(0.02)
        assert longest < 0.25
        assert len(running.log_tail()) <= 64 << 10
        assert len(running._progress_rest) <= protocol.MAX_PROGRESS_LINE_BYTES
    finally:
        for process in server.processes:
            process.kill()
            process.wait()
        running.close()


def test_a_full_disk_at_submission_is_a_sentence_and_the_next_job_works(engine, tiny, monkeypatch):
    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folders = set((engine._folder / "jobs").iterdir())
    with monkeypatch.context() as broken:
        broken.setattr(Path, "mkdir", full)
        with pytest.raises(QuotaExceeded, match=os.strerror(errno.ENOSPC)):
            engine.submit(predict(tiny))
    with monkeypatch.context() as broken:
        broken.setattr(protocol, "write_job", full)
        result = engine.wait(engine.submit(predict(tiny)), 20)
    assert result.status is Status.FAILED
    assert "disk is full" in result.reason
    assert engine.wait(engine.submit(predict(tiny)), 60).status is Status.OK
    assert all((folder / "final.json").exists() for folder in set((engine._folder / "jobs").iterdir()) - folders)


_ENGINE = """
import sys
from pathlib import Path
from stethoscope.jobs.job_engine import Engine
from stethoscope.types import Budget, Job, ModelFile
engine = Engine(Path(sys.argv[1]), {"light": 1, "tensorflow": 1}, 1 << 62)
path = Path(sys.argv[2])
job = Job("predict", {"model": ModelFile(path, path.name)}, {"batch_size": 1}, Budget(1 << 30, 60))
ids = [engine.submit(job) for _ in range(2)]
while engine.state(ids[0]).progress.phase not in ("predict", "measure", "trace"):
    pass
print(engine.server_pids()["light"], *ids, flush=True)
sys.stdin.read()
"""


def test_an_engine_that_was_killed_leaves_no_worker_and_the_next_one_tidies_up(tmp_path, tiny):
    folder = tmp_path / "workspace"
    alive = Engine(folder, {"light": 1, "tensorflow": 1}, 1 << 62)
    try:
        kept = alive.submit(predict(tiny))
        alive.wait(kept, 60)
        mine = alive.submit(predict(endless_onnx(tmp_path / "endless.onnx"), batch_size=1))
        killed = subprocess.Popen(
            [sys.executable, "-c", _ENGINE, str(folder), str(tmp_path / "endless.onnx")],
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,
            text=True,
            cwd=PROJECT,
        )
        server, *ids = killed.stdout.readline().split()
        family = [*psutil.Process(int(server)).children(), psutil.Process(int(server))]
        assert len(family) == 2
        killed.kill()
        killed.wait()
        killed.stdin.close()
        killed.stdout.close()
        until(lambda: not any(one.is_running() and one.status() != "zombie" for one in family))
        after = Engine(folder, {"light": 1, "tensorflow": 1}, 1 << 62)
        after.stop()
        assert not any((folder / "jobs" / job_id).exists() for job_id in ids), "unfinished, and nobody works on it"
        assert (folder / "jobs" / mine).exists(), "another engine's running job is not touched"
        assert alive.state(kept).result.status is Status.OK
        assert json.loads((folder / "jobs" / kept / "final.json").read_text())["id"] == kept
    finally:
        alive.stop()
    assert not list((folder / "engines").iterdir())


def test_a_worker_that_dies_between_two_looks_is_still_told(engine, tmp_path):
    """Killed again and again at random moments: each time an answer, and the engine goes on."""
    model = endless_onnx(tmp_path / "endless.onnx")
    for wait_s in (0.0, 0.05, 0.2):
        job_id = engine.submit(predict(model, batch_size=1))
        until(lambda: psutil.Process(engine.server_pids()["light"]).children())
        time.sleep(wait_s)
        for child in psutil.Process(engine.server_pids()["light"]).children():
            os.kill(child.pid, signal.SIGKILL)
        result = engine.wait(job_id, 60)
        assert result.status is Status.CRASHED
        assert "SIGKILL" in result.reason


def test_a_job_whose_folder_disappears_still_ends(engine, tmp_path):
    job_id = engine.submit(predict(endless_onnx(tmp_path / "endless.onnx"), batch_size=1))
    until(lambda: engine.state(job_id).progress.phase not in ("starting", "queued"))
    folder = engine._folder / "jobs" / job_id

    def removed() -> bool:
        shutil.rmtree(folder, ignore_errors=True)  # the worker writes into it all the while
        return not folder.exists()

    until(removed)
    engine.cancel(job_id)
    assert engine.wait(job_id, 30).status is Status.CANCELLED
