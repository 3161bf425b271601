"""Jobs, as someone who submits them sees them: results, progress, cancel, death of workers and of their server."""

from __future__ import annotations

import hashlib
import os
import signal
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from stethoscope.codec import answer_of
from stethoscope.errors import NotFound
from stethoscope.framework_errors import shortage_of
from stethoscope.jobs.job_engine import Engine
from stethoscope.memory.prediction import Prediction
from stethoscope.types import Status
from tests.jobs.conftest import job
from tests.processes import ended_within
from tests.small_models import hungry_onnx
from tests.waiting import until

pytestmark = pytest.mark.usefixtures("live_engine")


def running_pid(engine: Engine, job_id: str) -> int:
    """The process of a running job, found the way an operator would: a child of the worker server."""

    def children() -> list[psutil.Process]:
        state = engine.state(job_id)
        # What is told of a job that is started again is of its first attempt until there is a process for the second.
        if state.status != "running" or state.progress.phase in ("starting", "queued"):
            return []
        return psutil.Process(engine.server_pids()["light"]).children()

    return max(until(children), key=lambda child: child.create_time()).pid


def test_a_job_answers_with_json_and_arrays(engine, tiny):
    result = engine.wait(engine.submit(job("predict", tiny, batch_size=4, samples=10)), 60)
    assert result.status is Status.OK
    assert answer_of(result, Prediction).outputs["y"].shape == (10, 4)
    assert result.files["output-0.npy"].exists()
    assert 0 < result.wall_s < 60


def test_equal_jobs_on_equal_content_are_computed_once(engine, tiny):
    digest = hashlib.sha256(tiny.read_bytes()).hexdigest()
    first = engine.submit(job("describe", tiny, sha256=digest), owner="ann", entry_id="a")
    engine.wait(first, 60)
    again = engine.submit(job("describe", tiny, sha256=digest), owner="bob", entry_id="b")
    assert engine.state(again).done
    assert engine.state(again).cached
    assert engine.state(again).owner == "bob"
    assert engine.state(again).result.value == engine.state(first).result.value


def test_a_discarded_job_leaves_nothing(engine, tiny):
    job_id = engine.submit(job("predict", tiny, batch_size=4, samples=10))
    engine.discard(job_id)
    result = engine.wait(job_id, 60)
    folder = result.files["output-0.npy"].parents[1]
    assert folder.exists(), "one that was not done is not touched"
    engine.discard(job_id)
    assert not folder.exists()
    with pytest.raises(NotFound):
        engine.state(job_id)
    engine.discard(job_id)


def test_another_process_finds_a_finished_job(engine, tiny):
    job_id = engine.submit(job("describe", tiny))
    engine.wait(job_id, 60)
    other = Engine(engine._folder, {"light": 1, "tensorflow": 1}, 1 << 62)
    try:
        assert other.state(job_id).result.value["format_id"] == "onnx"
    finally:
        other.stop()


def test_an_unknown_job_is_not_found(engine):
    for job_id in ("nope", "../../etc/passwd", "x" * 24):
        with pytest.raises(NotFound):
            engine.state(job_id)


def test_cancel_ends_a_running_job_within_a_second_and_frees_its_process(engine, endless):
    job_id = engine.submit(job("predict", endless, timeout_s=60))
    worker = psutil.Process(running_pid(engine, job_id))
    with ended_within(1.0, worker):
        engine.cancel(job_id)
    assert engine.wait(job_id, 30).status is Status.CANCELLED
    assert not worker.is_running()


def test_an_endless_model_is_stopped_at_its_time_limit_with_its_phase(engine, endless):
    result = engine.wait(engine.submit(job("predict", endless, timeout_s=1.0)), 30)
    assert result.status is Status.TIMED_OUT
    assert result.phase in result.reason


def test_a_killed_worker_is_reported_and_harms_nobody(engine, endless, tiny):
    job_id = engine.submit(job("predict", endless, timeout_s=60))
    os.kill(running_pid(engine, job_id), signal.SIGKILL)
    assert engine.wait(job_id, 60).status is Status.CRASHED
    assert engine.wait(engine.submit(job("describe", tiny)), 30).status is Status.OK


def test_jobs_survive_the_death_of_their_server(engine, endless, tiny):
    job_id = engine.submit(job("predict", endless, timeout_s=3.0))
    pid = running_pid(engine, job_id)
    os.kill(engine.server_pids()["light"], signal.SIGKILL)
    until(lambda: not psutil.pid_exists(pid))
    assert engine.wait(engine.submit(job("describe", tiny)), 30).status is Status.OK
    assert engine.wait(job_id, 30).status is Status.TIMED_OUT, "it was started again in a new server"


def test_a_job_that_is_started_again_finds_nothing_of_its_first_attempt(tmp_path, endless):
    engine = Engine(tmp_path, {"light": 1, "tensorflow": 1}, 1 << 62)
    try:
        job_id = engine.submit(job("predict", endless, timeout_s=60))
        pid = running_pid(engine, job_id)
        folder = tmp_path / "jobs" / job_id
        (folder / "logs").mkdir()
        (folder / "logs" / "half").write_text("written")
        os.kill(engine.server_pids()["light"], signal.SIGKILL)
        until(lambda: not psutil.pid_exists(pid) and not (folder / "logs").exists())
        assert running_pid(engine, job_id) != pid
        engine.cancel(job_id)
        assert engine.wait(job_id, 60).status is Status.CANCELLED
    finally:
        engine.stop()


def test_out_of_memory_names_peak_phase_shape_and_what_fits(engine, tmp_path):
    model = hungry_onnx(tmp_path / "hungry.onnx")
    result = engine.wait(engine.submit(job("predict", model, memory_bytes=1 << 30, batch_size=64)), 60)
    assert result.status is Status.OUT_OF_MEMORY
    assert result.phase == "predict"
    assert 0 < result.peak_rss_bytes < 1.2 * (1 << 30)
    fits = shortage_of(result).largest_batch_estimate
    assert 1 <= fits.low <= fits.high < 64
    smaller = engine.wait(engine.submit(job("predict", model, memory_bytes=1 << 30, batch_size=fits.low)), 60)
    assert smaller.status is Status.OK


def test_twenty_jobs_at_once_all_end_and_leave_no_process(engine, tiny):
    ids = [engine.submit(job("predict", tiny, batch_size=2, seed=seed), owner=f"user-{seed % 5}") for seed in range(20)]
    assert {engine.wait(job_id, 120).status for job_id in ids} == {Status.OK}
    until(lambda: not psutil.Process(engine.server_pids()["light"]).children())


def test_job_folders_keep_only_the_answer(engine, tiny):
    job_id = engine.submit(job("predict", tiny, batch_size=2))
    engine.wait(job_id, 60)
    left = sorted(path.name for path in (Path(engine._folder) / "jobs" / job_id).iterdir())
    assert left == ["final.json", "out"]


def test_stopping_an_engine_leaves_no_process(tmp_path, endless):
    made = Engine(tmp_path, {"light": 1, "tensorflow": 1}, 1 << 62)
    job_id = made.submit(job("predict", endless))
    pids = {running_pid(made, job_id), *made.server_pids().values()}
    made.stop()
    until(lambda: not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in pids))


def test_a_job_waits_for_what_it_reads_and_that_goes_afterwards(engine, tiny):
    earlier = job("predict", tiny, batch_size=4, samples=1234)

    def before() -> list[str]:
        return [one.id for one in engine.jobs() if one.params.get("samples") == 1234]

    asked = [replace(job("describe", tiny, one=one), after={"before": earlier}) for one in range(2)]
    ids = [engine.submit(one, owner="ann") for one in asked]
    assert len(before()) == 1, "done once for both"
    assert engine.jobs(owner="ann", active=True)
    assert all(engine.wait(one, 60).status is Status.OK for one in ids)
    until(lambda: not before())


def test_a_job_starts_at_once_where_what_it_reads_is_done_already(engine, tiny, endless):
    earlier = job("predict", tiny, batch_size=4, samples=4321)
    first = engine.submit(replace(job("predict", endless, batch_size=1), after={"before": earlier}), owner="ann")
    until(lambda: any(one.done for one in engine.jobs() if one.params.get("samples") == 4321))
    second = engine.submit(replace(job("describe", tiny), after={"before": earlier}), owner="ann")
    assert engine.wait(second, 60).status is Status.OK
    assert not engine.state(first).done
    engine.cancel(first)
    until(lambda: not engine.jobs(active=True))


def test_a_job_ends_as_the_one_before_it_did(engine, tiny, endless):
    missing = job("predict", tiny.with_name("gone.onnx"))
    result = engine.wait(engine.submit(replace(job("describe", tiny), after={"before": missing})), 60)
    assert result.status is Status.FAILED
    assert "gone.onnx" in result.reason
    waiting = engine.submit(replace(job("describe", tiny), after={"before": job("predict", endless, batch_size=1)}))
    until(lambda: engine.state(waiting).progress.phase not in ("queued", "starting"))
    engine.cancel(waiting)
    assert engine.wait(waiting, 60).status is Status.CANCELLED
    until(lambda: not engine.jobs(active=True))


def test_nothing_is_left_of_what_a_cancelled_job_waited_for(tmp_path, endless):
    engine = Engine(tmp_path, {"light": 2, "tensorflow": 1}, 1 << 62)
    try:
        earlier = job("predict", endless, batch_size=1)
        waiting = [engine.submit(replace(job("describe", endless, one=one), after={"before": earlier})) for one in "ab"]
        until(lambda: engine.state(waiting[0]).progress.phase not in ("queued", "starting"))
        engine.cancel(waiting[0])
        assert engine.wait(waiting[0], 60).status is Status.CANCELLED
        assert not engine.state(waiting[1]).done, "the other one still waits for it"
        engine.cancel(waiting[1])
        until(lambda: {path.name for path in (tmp_path / "jobs").iterdir()} == set(waiting))
        assert {one.id for one in engine.jobs()} == set(waiting)
    finally:
        engine.stop()


def test_what_a_job_was_to_read_goes_when_the_server_stops_before(tmp_path, endless, tiny):
    engine = Engine(tmp_path, {"light": 2, "tensorflow": 1}, 1 << 62)
    reads = replace(job("predict", endless), after={"before": job("predict", tiny, batch_size=4, samples=10)})
    waiting = engine.submit(reads)
    until(lambda: any((path / "out" / "output-0.npy").exists() for path in (tmp_path / "jobs").iterdir()))
    until(lambda: any(state.id != waiting and state.done for state in engine.jobs()))
    engine.stop()
    assert len(list((tmp_path / "jobs").iterdir())) == 2
    again = Engine(tmp_path, {"light": 1, "tensorflow": 1}, 1 << 62)
    again.stop()
    assert not list((tmp_path / "jobs").iterdir())
