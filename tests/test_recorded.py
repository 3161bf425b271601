"""The recording of answers: given again only for the same question, and only while the code behind it stands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stethoscope.jobs.job_engine import Engine
from stethoscope.types import Budget, Job, ModelFile, Status
from tests import recorded
from tests.recorded import NotRecorded, RecordedEngine
from tests.small_models import tiny_onnx
from tests.sources import imports_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty recording."""
    monkeypatch.setattr(recorded, "FOLDER", tmp_path / "recordings")
    recorded.forget()
    yield tmp_path
    monkeypatch.undo()
    recorded.forget()


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> RecordedEngine:
    made = RecordedEngine(tmp_path_factory.mktemp("engine"), {"light": 1, "tensorflow": 1}, 1 << 62, reuse=False)
    yield made
    made.stop()


def predict(path: Path, **params) -> Job:
    return Job("predict", {"model": ModelFile.at(path)}, {"batch_size": 2, "samples": 4, **params}, Budget(1 << 30, 60))


def record(runs: RecordedEngine, folder: Path, job: Job):
    runs.keeps = folder / "new.jsonl"
    with runs.live(keeps=True):
        result = runs.wait(runs.submit(job), 60)
    runs.keeps = None
    recorded.merge([folder / "new.jsonl"])
    recorded.forget()
    return result


def test_the_same_question_gets_the_same_answer_without_a_worker(runs, folder):
    first = record(runs, folder, predict(tiny_onnx(folder / "a" / "tiny.onnx")))
    runs._had_turn = {"predict"}
    before = runs.ran
    with runs.only_recorded():
        again = runs.wait(runs.submit(predict(tiny_onnx(folder / "b" / "tiny.onnx"))), 1)
    assert runs.ran == before
    assert (again.status, again.value, again.wall_s) == (Status.OK, first.value, first.wall_s)
    assert again.files.keys() == first.files.keys()
    for name, path in again.files.items():
        np.testing.assert_array_equal(np.load(path), np.load(first.files[name]))


def test_another_content_name_parameter_or_budget_is_another_question(runs, folder):
    job = predict(tiny_onnx(folder / "tiny.onnx"))
    record(runs, folder, job)
    others = [
        predict(tiny_onnx(folder / "three" / "tiny.onnx", scale=3.0)),
        predict(tiny_onnx(folder / "other.onnx")),
        predict(folder / "tiny.onnx", seed=1),
        Job(job.kind, job.files, job.params, Budget(2 << 30, 60)),
    ]
    with runs.only_recorded():
        for other in others:
            with pytest.raises(NotRecorded):
                runs.submit(other)


def test_a_changed_module_lets_the_job_run(runs, folder, monkeypatch):
    job = predict(tiny_onnx(folder / "tiny.onnx"))
    record(runs, folder, job)
    monkeypatch.setattr(recorded, "fingerprint", lambda kind: "of other code")
    recorded.forget()
    with runs.only_recorded(), pytest.raises(NotRecorded):
        runs.submit(job)
    before = runs.ran
    assert runs.wait(runs.submit(job), 60).status is Status.OK
    assert runs.ran == before + 1


def test_one_of_each_kind_runs_in_its_turn_once(runs, folder):
    job = predict(tiny_onnx(folder / "tiny.onnx"))
    record(runs, folder, job)
    runs._had_turn, before = set(), runs.ran
    for _ in range(3):
        assert runs.wait(runs.submit(job), 60).status is Status.OK
    assert runs.ran == before + 1
    assert runs._had_turn == {"predict"}


def test_what_is_to_run_every_time_runs_once_whosever_turn_it_is(runs, folder):
    job = predict(tiny_onnx(folder / "tiny.onnx"))
    record(runs, folder, job)
    key = recorded.key_of(recorded.identity_of(job))
    runs._had_turn, runs._live, before = {"predict"}, {key}, runs.ran
    job_ids = [runs.submit(job) for _ in range(2)]
    assert all(runs.wait(job_id, 60).status is Status.OK for job_id in job_ids)
    assert runs.ran == before + 1
    assert [runs.ran_as.get(job_id) for job_id in job_ids] == [key, None]


def test_what_rests_on_a_module_is_known_from_imports():
    assert "tests.recorded" in imports_of("tests.conftest")
    assert "stethoscope.models.formats.onnx" in imports_of("stethoscope.models.formats"), (
        "a package that looks for its modules imports them"
    )


def test_the_recordings_are_as_the_code_reads_them():
    kinds = sorted(path.stem for path in recorded.FOLDER.glob("*.jsonl"))
    assert len(kinds) > 20, "run: make record"
    seen = set()
    for kind in kinds:
        for entry in recorded.entries(kind):
            identity = entry["identity"]
            assert entry["key"] == recorded.key_of(identity)
            assert (identity["kind"], entry.keys()) == (kind, {"key", "source", "identity", "result", "out"})
            assert recorded.identity_of(recorded.job_of(identity)) == identity
            text = json.dumps(entry["result"])
            assert not [place for place in ("/tmp/", "/.venv/") if place in text], f"{kind}: a place on one machine"
            assert Status(entry["result"]["status"]) in Status
            assert entry["key"] not in seen
            seen.add(entry["key"])


def test_what_is_planted_answers_whoever_asks_and_is_known_to_be_used(runs, folder):
    sample = predict(recorded.BUILT / "digits_cnn.onnx")
    entry = record(runs, folder, sample)
    record(runs, folder, predict(tiny_onnx(folder / "tiny.onnx")))
    workspace = folder / "workspace"
    planted = recorded.plant(workspace)
    assert len(planted) == 1, "only what is about samples"
    assert recorded.used_of(planted, workspace) == set()
    assert recorded.plant(folder / "another", but=["predict"]) == {}
    engine = Engine(workspace, {"light": 1, "tensorflow": 1}, 1 << 62)
    try:
        job_id = engine.submit(replace(sample, files={"model": hashed(recorded.BUILT / "digits_cnn.onnx")}), owner="a")
        assert engine.state(job_id).done and engine.state(job_id).cached
        assert engine.wait(job_id, 1).value == entry.value
    finally:
        engine.stop()
    assert recorded.used_of(planted, workspace) == set(planted.values())


def test_what_an_app_elsewhere_answers_about_samples_is_overheard(runs, folder):
    jobs = [
        replace(predict(path), files={"model": hashed(path)})
        for path in (recorded.BUILT / "digits_cnn.onnx", tiny_onnx(folder / "tiny.onnx"))
    ]
    with runs.live(), recorded.Overheard(runs._folder, folder / "heard.jsonl"):
        for job in jobs:
            assert runs.wait(runs.submit(job, fresh=True), 60).status is Status.OK
    (heard,) = map(json.loads, (folder / "heard.jsonl").read_text().splitlines())
    assert heard["identity"] == recorded.identity_of(jobs[0])


def hashed(path: Path) -> ModelFile:
    return ModelFile(path, path.name, recorded.content(ModelFile.at(path)))
