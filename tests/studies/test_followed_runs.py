"""Following a folder, with real workers."""

from __future__ import annotations

import time

import pytest

from stethoscope.studies import followed_runs as follow
from stethoscope.studies.followed_runs import Follower
from stethoscope.types import Budget
from tests.logs.event_writing import event, simple, write_events
from tests.waiting import until


@pytest.fixture
def follower(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(follow, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(follow, "AFTER_FAILURE_S", 0.0)
    place, scratch = tmp_path / "logs", tmp_path / "scratch"
    place.mkdir()
    scratch.mkdir()
    made = Follower(place, engine, scratch, Budget(1 << 30, 60))
    yield made
    made.close()
    assert not scratch.exists()


def seen(follower, wanted):
    return until(lambda: wanted(now := follower.look()) and now)


def finished(engine):
    return {state.id for state in engine.jobs() if state.kind == "read_runs" and state.done}


def test_points_runs_and_an_end(follower, engine):
    before = finished(engine)
    empty = seen(follower, lambda now: now.table is not None)
    assert (empty.table.runs, empty.revision) == ((), 1)
    path = write_events(follower.place / "a", [event(0, simple("loss", 1.0))])
    seen(follower, lambda now: now.table.runs)
    for step in range(1, 12):
        with path.open("ab") as stream:
            stream.write(event(step, simple("loss", 1.0 / step)))
        now = seen(follower, lambda now, step=step: now.table.points == step + 1)
    assert now.table.series(0, "loss").step.tolist() == list(range(12))
    assert len(now.table.segments) <= 6
    write_events(follower.place / "b", [event(0, simple("loss", 1.0))])
    now = seen(follower, lambda now: len(now.table.runs) == 2)
    assert [run.run for run in now.table.runs] == ["a", "b"]
    revision = now.revision
    time.sleep(0.2)
    assert follower.look().revision == revision, "nothing new, nothing to draw"
    assert finished(engine) <= before, "no look leaves a job behind"


def test_a_folder_that_goes_is_said(follower):
    path = write_events(follower.place / "a", [event(0, simple("loss", 1.0))])
    seen(follower, lambda now: now.table is not None and now.table.runs)
    path.unlink()
    path.parent.rmdir()
    now = seen(follower, lambda now: now.table.runs[0].gone)
    follower.place.rmdir()
    now = seen(follower, lambda now: now.problem)
    assert "not there" in now.problem
    assert now.table is not None
    follower.place.mkdir()
    seen(follower, lambda now: not now.problem)
