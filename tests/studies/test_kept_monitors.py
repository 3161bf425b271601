"""Monitors of the workspace: their own copies, one line for each run that ended, and a way back after deleting."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from stethoscope.codec import plain
from stethoscope.drift.settings import DriftSettings
from stethoscope.errors import BadSetting, NotFound, QuotaExceeded
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry, Store
from stethoscope.settings import Settings
from stethoscope.studies import kept_monitor, kept_monitors
from stethoscope.studies.kept_monitors import WITHOUT_MODEL, KeptMonitors
from stethoscope.types import JobResult, Status
from tests.drift.sides import compared, side

ME, OTHER, MODEL = "me-me-me-me", "other-other", "model-0123456"


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    made = Store(tmp_path / "store", Settings(workspace=tmp_path, min_free_disk_bytes=0, quota_bytes=100))
    yield made
    made.close()


@pytest.fixture
def put(store, tmp_path):
    def add(text: str, name: str, owner: str = ME) -> Entry:
        (tmp_path / name).write_text(text)
        return store.add_file(tmp_path / name, name, owner)

    return add


@pytest.fixture
def reference(put) -> Entry:
    return put("a,b\n1,2\n", "then.csv")


@pytest.fixture
def shelf(tmp_path, store) -> KeptMonitors:
    return KeptMonitors(tmp_path / "monitors", store)


def save(shelf, reference, name="Scanner", subject=MODEL, owner=ME, **more):
    return shelf.save(subject, owner, name, reference, None, DriftSettings(alpha=0.01), **more)


def state(status=Status.OK, done=True, **value) -> JobState:
    result = JobResult(status, value, "It broke." if status is not Status.OK else "", "", 0, 1.0)
    return JobState(
        "job-1",
        "drift",
        ME,
        MODEL,
        0.0,
        status="done" if done else "running",
        finished_s=1_700_000_000.0,
        result=result if done else None,
    )


def test_it_outlives_the_upload_and_keeps_its_name(shelf, store, reference):
    made = save(shelf, reference, webhook="https://host/x", job={"trusted": True})
    store.remove(reference.id, ME)
    again = shelf.of(MODEL, ME)
    assert [(one.id, one.name, one.owner) for one in again] == [(made.id, "Scanner", ME)]
    monitor = again[0].monitor()
    assert monitor.reference.name == "then.csv" and monitor.reference.read_text().startswith("a,b")
    assert (monitor.settings.alpha, monitor.webhook, monitor.job) == (0.01, "https://host/x", {"trusted": True})
    assert shelf.of(MODEL, OTHER) == [] and shelf.of("../..", ME) == []


def test_what_is_kept_takes_no_room_beside_the_upload_and_counts_once(shelf, store, put, reference):
    made = [save(shelf, reference), save(shelf, reference)]
    assert made[0].monitor().reference.samefile(reference.path)
    assert store.usage(ME).used_bytes == 8
    store.remove(reference.id, ME)
    assert store.usage(ME).used_bytes == 8
    for one in made:
        shelf.leave(put("x", f"{one.id}.keras", OTHER))
    assert store.usage(ME).used_bytes == 8, "of other models"
    for one in made:
        shelf.remove(MODEL, one.id, ME)
    assert store.usage(ME).used_bytes == 8, "they can be brought back"
    os.utime(made[0].folder.with_name(made[0].id + ".removed"), (0, 0))
    os.utime(made[1].folder.with_name(made[1].id + ".removed"), (0, 0))
    shelf.clean(0)
    assert store.usage(ME).used_bytes == 0 and not reference.path.exists()


def test_what_does_not_fit_is_not_kept(shelf, store, put, tmp_path):
    theirs = put("x" * 90, "theirs.csv", OTHER)
    put("y" * 30, "mine.csv")
    with pytest.raises(QuotaExceeded, match="70 bytes left"):
        save(shelf, theirs)
    assert store.usage(ME).used_bytes == 30 and not store.holders()
    assert save(shelf, theirs, owner=OTHER), "who has it already needs no room"


def test_monitors_go_with_their_model_or_to_another_upload_of_the_same_file(shelf, store, put, reference):
    model, same, theirs = put("m", "model.keras"), put("m", "again.keras"), put("m", "theirs.keras", OTHER)
    mine, others = (
        save(shelf, reference, subject=model.id),
        save(shelf, reference, subject=model.id, owner="third-third"),
    )
    of_other = save(shelf, reference, subject=model.id, owner=OTHER)
    assert [one.id for one in shelf.going_with(model)] == [others.id]
    store.remove(model.id, ME)
    shelf.leave(model)
    assert [(one.id, one.subject) for one in shelf.of(same.id, ME)] == [(mine.id, same.id)]
    assert [one.id for one in shelf.of(theirs.id, OTHER)] == [of_other.id]
    assert shelf.of(same.id, ME)[0].monitor().reference.read_text().startswith("a,b")
    assert not others.folder.parent.exists() and store.holders() == {mine.id, of_other.id}
    store.remove(same.id, ME)
    shelf.leave(same)
    assert shelf.of(same.id, ME) == [] and store.holders() == {of_other.id}


def test_cleaning_ends_what_is_of_no_model_any_more_and_what_nobody_used(shelf, store, put, reference):
    model = put("m", "model.keras")
    kept, alone, used = (save(shelf, reference, subject=one) for one in (model.id, WITHOUT_MODEL, WITHOUT_MODEL))
    gone = save(shelf, reference)  # MODEL is no entry
    for one in (kept, alone, used):
        os.utime(one.folder / "about.json", (0, 0))
    (used.folder / "monitor.history.jsonl").write_text("")
    store.hold("nobody-has-this", ME, [reference])
    assert shelf.used_since(time.time() - 60) == {WITHOUT_MODEL, MODEL}
    shelf.clean(3_600)
    assert store.holders() == {kept.id, used.id}, "the model's own expires with the model"
    assert not alone.folder.exists() and not gone.folder.parent.exists()
    shelf.of(model.id, ME)
    assert shelf.used_since(time.time() - 60) == {WITHOUT_MODEL, model.id}, "it was looked at"
    store.remove(model.id, ME)
    shelf.clean(0)
    assert store.holders() == {used.id}


def test_runs_that_ended_are_written_once(shelf, reference):
    made = save(shelf, reference)
    made.begun("job-1", "now.csv")
    states = {"job-1": state(done=False)}
    made.settle(states.get)
    assert made.history() == [] and made.under_way() == {"job-1": "now.csv"}
    states["job-1"] = state(**plain(compared(side(a=range(50)), side(a=range(50, 100)))))
    made.settle(states.get)
    shelf.get(MODEL, made.id).settle(states.get)
    assert [(run.verdict, run.current, run.job) for run in made.history()] == [("drift", "now.csv", "job-1")]
    assert made.history()[0].time == "2023-11-14T22:13:20+00:00" and made.under_way() == {}


def test_a_run_that_was_lost_or_failed_is_a_gap_and_one_that_was_cancelled_is_none(shelf, reference):
    made = save(shelf, reference)
    for job_id in ("lost", "failed", "cancelled"):
        made.begun(job_id, "now.csv")
    made.settle({"failed": state(Status.FAILED), "cancelled": state(Status.CANCELLED)}.get)
    assert {run.job: run.status for run in made.history()} == {"lost": "failed", "failed": "failed"}
    assert {run.sentence for run in made.history()} == {"It broke.", kept_monitor._LOST}


def test_deleting_can_be_undone_by_its_owner_for_an_hour(shelf, reference, monkeypatch):
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
    monkeypatch.setattr(kept_monitors.time, "time", lambda: now + 2 * 3_600)
    assert shelf.of(MODEL, ME) == [] and not list((made.folder.parent).iterdir())


def test_what_cannot_be_kept_leaves_nothing(shelf, put, reference, tmp_path, monkeypatch):
    with pytest.raises(BadSetting, match="Shorten it"):
        save(shelf, reference, "x" * 81)
    reference.path.unlink()
    with pytest.raises(BadSetting, match="cannot be kept"):
        save(shelf, reference)
    assert not list((tmp_path / "monitors" / MODEL).iterdir())
    reference = put("a\n1\n", "then.csv")
    monkeypatch.setattr(kept_monitors, "MOST", 1)
    save(shelf, reference, "")
    with pytest.raises(BadSetting, match="Delete one first"):
        save(shelf, reference)
    assert shelf.of(MODEL, ME)[0].name == "then.csv"


def test_a_broken_folder_is_passed_over(shelf, reference):
    made = save(shelf, reference)
    (made.folder.parent / "broken-folder").mkdir()
    (made.folder.parent / "broken-folder" / "about.json").write_text("[")
    assert [one.id for one in shelf.of(MODEL, ME)] == [made.id]
