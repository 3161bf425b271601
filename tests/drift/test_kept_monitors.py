"""Monitors of the workspace: their own copies, one line for each run that ended, and a way back after deleting."""

from __future__ import annotations

import time

import pytest

from stethoscope.drift import kept_monitors
from stethoscope.drift.kept_monitors import KeptMonitors
from stethoscope.drift.settings import DriftSettings
from stethoscope.errors import BadSetting, NotFound
from stethoscope.jobs.state import JobState
from stethoscope.types import JobResult, ModelFile, Status

ME, OTHER, MODEL = "me-me-me-me", "other-other", "model-0123456"


@pytest.fixture
def reference(tmp_path) -> ModelFile:
    (tmp_path / "blob").write_text("a,b\n1,2\n")
    return ModelFile(tmp_path / "blob", "../then.csv")


@pytest.fixture
def shelf(tmp_path) -> KeptMonitors:
    return KeptMonitors(tmp_path / "monitors")


def save(shelf, reference, name="Scanner", **more):
    return shelf.save(MODEL, ME, name, reference, None, DriftSettings(alpha=0.01), **more)


def state(status=Status.OK, done=True, **value) -> JobState:
    result = JobResult(status, value, "It broke." if status is not Status.OK else "", "", 0, 1.0)
    return JobState("job-1", "drift", ME, MODEL, 0.0, status="done" if done else "running", finished_s=1_700_000_000.0, result=result if done else None)  # fmt: skip


def test_it_outlives_the_upload_and_keeps_its_name(shelf, reference):
    made = save(shelf, reference, webhook="https://host/x", job={"trusted": True})
    reference.path.unlink()
    again = shelf.of(MODEL, ME)
    assert [(one.id, one.name, one.owner) for one in again] == [(made.id, "Scanner", ME)]
    monitor = again[0].monitor()
    assert monitor.reference.name == "then.csv" and monitor.reference.read_text().startswith("a,b")
    assert (monitor.settings.alpha, monitor.webhook, monitor.job) == (0.01, "https://host/x", {"trusted": True})
    assert shelf.of(MODEL, OTHER) == [] and shelf.of("../..", ME) == []


def test_a_file_that_nobody_may_write_to_takes_no_room(shelf, reference):
    reference.path.chmod(0o444)
    made = save(shelf, reference)
    assert made.monitor().reference.samefile(reference.path)


def test_runs_that_ended_are_written_once(shelf, reference):
    made = save(shelf, reference)
    made.begun("job-1", "now.csv")
    states = {"job-1": state(done=False)}
    made.settle(states.get)
    assert made.history() == [] and made.under_way() == {"job-1": "now.csv"}
    states["job-1"] = state(verdict="drift", sentence="It drifted.")
    made.settle(states.get)
    shelf.get(MODEL, made.id).settle(states.get)
    assert [(one["verdict"], one["current"], one["job"]) for one in made.history()] == [("drift", "now.csv", "job-1")]
    assert made.history()[0]["time"] == "2023-11-14T22:13:20+00:00" and made.under_way() == {}


def test_a_run_that_was_lost_or_failed_is_a_gap_and_one_that_was_cancelled_is_none(shelf, reference):
    made = save(shelf, reference)
    for job_id in ("lost", "failed", "cancelled"):
        made.begun(job_id, "now.csv")
    made.settle({"failed": state(Status.FAILED), "cancelled": state(Status.CANCELLED)}.get)
    assert {one["job"]: one["status"] for one in made.history()} == {"lost": "failed", "failed": "failed"}
    assert {one["sentence"] for one in made.history()} == {"It broke.", kept_monitors._LOST}


def test_deleting_can_be_undone_by_its_owner_for_a_day(shelf, reference, monkeypatch):
    made = save(shelf, reference)
    with pytest.raises(NotFound):
        shelf.remove(MODEL, made.id, OTHER)
    shelf.remove(MODEL, made.id, ME)
    assert shelf.of(MODEL, ME) == []
    with pytest.raises(NotFound):
        shelf.get(MODEL, made.id)
    with pytest.raises(NotFound):
        shelf.restore(MODEL, made.id, OTHER)
    shelf.restore(MODEL, made.id, ME)
    assert [one.id for one in shelf.of(MODEL, ME)] == [made.id]
    shelf.remove(MODEL, made.id, ME)
    now = time.time()
    monkeypatch.setattr(kept_monitors.time, "time", lambda: now + 25 * 3_600)
    assert shelf.of(MODEL, ME) == [] and not list((made.folder.parent).iterdir())


def test_what_cannot_be_kept_leaves_nothing(shelf, reference, tmp_path, monkeypatch):
    with pytest.raises(BadSetting, match="Shorten it"):
        save(shelf, reference, "x" * 81)
    reference.path.unlink()
    with pytest.raises(BadSetting, match="cannot be kept"):
        save(shelf, reference)
    assert not list((tmp_path / "monitors" / MODEL).iterdir())
    reference.path.write_text("a\n1\n")
    monkeypatch.setattr(kept_monitors, "MOST", 1)
    save(shelf, reference, "")
    with pytest.raises(BadSetting, match="Delete one first"):
        save(shelf, reference)
    assert shelf.of(MODEL, ME)[0].name == "../then.csv"


def test_a_broken_folder_is_passed_over(shelf, reference):
    made = save(shelf, reference)
    (made.folder.parent / "broken-folder").mkdir()
    (made.folder.parent / "broken-folder" / "about.json").write_text("[")
    assert [one.id for one in shelf.of(MODEL, ME)] == [made.id]
