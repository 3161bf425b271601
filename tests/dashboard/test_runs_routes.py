"""What the Training page fetches, over HTTP."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dashboard.training import followed
from stethoscope.errors import NotFound
from stethoscope.types import Budget, Job, ModelFile
from tests.dashboard.conftest import _forget
from tests.logs.event_writing import event, simple, write_events
from tests.waiting import until


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    place = tmp_path / "allowed" / "logs"
    for seed in range(2):
        steps = [event(step, simple("loss", 1 / (step + 1 + seed)), simple("rate", 0.5)) for step in range(20)]
        write_events(place / "group" / f"seed{seed}", steps)
    return place


@pytest.fixture
def routed(server, engine, monkeypatch):
    """The server, with the engine of the tests and nothing open."""
    monkeypatch.setattr(followed, "engine", lambda: engine)
    yield server
    followed.forget_all()


@pytest.fixture
def job(routed, engine, logs) -> str:
    job_id = engine.submit(Job("read_runs", {"logs": ModelFile.at(logs)}, {}, Budget(1 << 30, 60)))
    engine.wait(job_id, 60)
    return job_id


def curves(server, log_id: str, **asked):
    answer = server.ask("POST", f"/api/runs/{log_id}/curves", json.dumps(asked))
    assert answer.status == 200, answer.body
    length = struct.unpack("<I", answer.body[:4])[0]
    return json.loads(answer.body[4 : 4 + length]), answer.body[4 + length :]


def test_index_and_curves_of_a_log_that_was_read(routed, job):
    answer = routed.ask("GET", f"/api/runs/{job}/index")
    index = json.loads(answer.body)
    assert answer.headers["content-type"] == "application/json"
    assert (index["revision"], index["live"], index["title"], index["problem"]) == (1, False, "logs", "")
    assert [run["run"] for run in index["runs"]] == ["group/seed0", "group/seed1"]
    assert [tag["tag"] for tag in index["tags"]] == ["loss", "rate"]
    assert routed.ask("GET", f"/api/runs/{job}/index?revision=1").status == 204
    header, numbers = curves(routed, job, tag=0, columns=300, smoothing=0.6)
    assert [one["run"] for one in header["series"]] == [0, 1]
    assert len(numbers) == 8 * 2 * 3 * 20


def test_summary_and_export(routed, job):
    rows = json.loads(routed.ask("GET", f"/api/runs/{job}/summary?tag=0").body)["runs"]
    assert [(row["run"], row["best_step"], row["points"]) for row in rows] == [(0, 19, 20), (1, 19, 20)]
    answer = routed.ask("GET", f"/api/runs/{job}/export?format=csv&tag=1&runs=1")
    assert answer.headers["content-disposition"] == 'attachment; filename="logs.csv"'
    assert len(answer.body.splitlines()) == 21
    whole = routed.ask("GET", f"/api/runs/{job}/export?format=parquet")
    assert pq.read_table(io.BytesIO(whole.body)).num_rows == 80


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("summary?tag=9", 400),
        ("summary", 400),
        ("export?format=xls", 400),
        ("export?format=csv&tag=x", 400),
        ("export?format=csv&runs=7", 400),
    ],
)
def test_senseless_questions_get_a_sentence(routed, job, path, status):
    answer = routed.ask("GET", f"/api/runs/{job}/{path}")
    assert answer.status == status
    assert "expected" in json.loads(answer.body)["error"]


def test_bodies_are_checked_and_bounded(routed, job):
    assert routed.ask("POST", f"/api/runs/{job}/curves", "{").status == 400
    assert routed.ask("POST", f"/api/runs/{job}/curves", "[" * 100_000).status == 400
    assert routed.ask("POST", f"/api/runs/{job}/curves", b" " * (5 << 20)).status == 413


@pytest.mark.parametrize("log_id", ["nobody-knows-this-id", "..%2f..%2fetc", "x"])
def test_an_unknown_id_is_not_found(routed, log_id):
    for path in ("index", "summary?tag=0", "export?format=csv"):
        assert routed.ask("GET", f"/api/runs/{log_id}/{path}").status == 404
    assert routed.ask("POST", f"/api/runs/{log_id}/curves", '{"tag": 0}').status == 404


def test_a_log_that_could_not_be_read_says_why(routed, engine, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("nothing")
    job_id = engine.submit(Job("read_runs", {"logs": ModelFile.at(path)}, {}, Budget(1 << 30, 60)))
    engine.wait(job_id, 60)
    index = json.loads(routed.ask("GET", f"/api/runs/{job_id}/index").body)
    assert "expected training logs" in index["problem"]
    assert routed.ask("POST", f"/api/runs/{job_id}/curves", '{"tag": 0}').status == 404


def test_a_live_folder_grows_on_the_page(routed, logs, monkeypatch):
    monkeypatch.setenv("STETHOSCOPE_LOG_FOLDERS", str(logs.parent))
    _forget()
    log_id = followed.follow(logs)
    assert log_id == followed.follow(str(logs)), "one follower for everybody"

    def index_with(points: int):
        index = json.loads(routed.ask("GET", f"/api/runs/{log_id}/index").body)
        return index if sum(tag["points"] for tag in index["tags"]) == points else None

    index = until(lambda: index_with(80))
    assert index["live"]
    with next(logs.rglob("seed0/*")).open("ab") as stream:
        stream.write(event(20, simple("loss", 0.5)))
    assert until(lambda: index_with(81))["revision"] > index["revision"]
    header, _ = curves(routed, log_id, tag=0)
    assert header["series"][0]["last"] == [20, 0.5]


def test_only_folders_below_those_allowed_may_be_named(workspace, logs, tmp_path, monkeypatch):
    secret = tmp_path / "secret"
    secret.mkdir()
    (logs / "way-out").symlink_to(secret)
    for refused in (logs, secret):
        with pytest.raises(NotFound):
            followed.follow(refused)
    monkeypatch.setenv("STETHOSCOPE_LOG_FOLDERS", f"{logs.parent}:{tmp_path / 'not-there'}")
    _forget()
    followed.follow(logs)
    followed.follow(logs.parent)
    for refused in (
        secret,
        logs / "way-out",
        logs / ".." / ".." / "secret",
        tmp_path,
        Path("logs"),
        logs / "none",
        "a\0b",
    ):
        with pytest.raises(NotFound, match="STETHOSCOPE_LOG_FOLDERS"):
            followed.follow(refused)
    assert [path.name for path in followed.subfolders(logs)] == ["group"], "links are not followed"
    with pytest.raises(NotFound):
        followed.subfolders(secret)
    followed.forget_all()
