"""Hostile and broken files: refused or contained, the marker uncreated, the canary unread, the engine well afterwards.

The files come from a generator outside the project (see `shared_dir`); what each attack does is also tested on small
files beside the module that stops it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stethoscope.jobs.job_engine import Engine
from stethoscope.jobs.worker import containment, seccomp
from stethoscope.models.formats import all_formats
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status

pytestmark = pytest.mark.sweep
MODEL_KINDS = ("keras", "keras-h5", "savedmodel", "frozen-pb", "tflite", "onnx")


@pytest.fixture(scope="module")
def corpus(shared_dir, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "files"
    generator = shared_dir / "corpus" / "make_corpus.py"
    if not generator.exists():
        pytest.skip("no generator of hostile files")
    done = subprocess.run(
        [sys.executable, str(generator), str(folder)], capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stderr[-1000:]
    return folder


@pytest.fixture(scope="module")
def endings(corpus, engine) -> dict[str, list[JobResult]]:
    with engine.live():
        return crowded(corpus, engine)


def crowded(corpus: Path, engine: Engine) -> dict[str, list[JobResult]]:
    """Every file described, then predicted: first as anybody, then with its code allowed. All at once, as a crowd would."""

    def submit(kind: str, file: ModelFile, worker="light", **params) -> str:
        budget = Budget(512 << 20, 6) if kind == "predict" else Budget(2 << 30, 60)
        return engine.submit(Job(kind, {"model": file}, params, budget, worker), owner=file.name)

    names = [entry["path"] for entry in manifest(corpus)["files"]]
    files = {name: ModelFile.at(corpus / name) for name in names}
    described = {name: submit("describe", file, skeleton=True) for name, file in files.items()}
    results = {name: [engine.wait(job_id, 300)] for name, job_id in described.items()}
    predicted: dict[str, str] = {}
    workers: dict[str, str] = {}
    for name, (result,) in results.items():
        if result.status is Status.OK:
            workers[name] = all_formats()[result.value["format_id"]].worker
            predicted[name] = submit("predict", files[name], workers[name], batch_size=2)
    for name, job_id in predicted.items():
        results[name].append(engine.wait(job_id, 300))
    allowed = {
        name: submit("predict", files[name], workers[name], batch_size=2, trusted=True)
        for name in predicted
        if results[name][-1].status is Status.REFUSED
    }
    for name, job_id in allowed.items():
        results[name].append(engine.wait(job_id, 300))
    return results


def manifest(corpus: Path) -> dict:
    return json.loads((corpus / "manifest.json").read_text())


def test_no_attack_reached_its_aim(corpus, endings):
    known = manifest(corpus)
    assert not os.path.lexists(known["marker"])
    secret = Path(known["secret"]).read_text().splitlines()[0]
    for name, results in endings.items():
        for result in results:
            assert secret not in json.dumps(result.value) + result.reason, name
            for path in result.files.values():
                assert secret.encode() not in path.read_bytes(), name


def test_honest_files_run(corpus, endings):
    safe = [e for e in manifest(corpus)["files"] if e["verdict"] == "safe" and e["kind"] in MODEL_KINDS]
    assert safe
    for entry in safe:
        assert [result.status for result in endings[entry["path"]][:2]] == [Status.OK] * 2, entry["path"]


def test_hostile_models_are_refused_without_consent(corpus, endings):
    for entry in manifest(corpus)["files"]:
        if entry["verdict"] != "reject":
            continue
        last = endings[entry["path"]][:2][-1]
        assert last.status in (Status.REFUSED, Status.FAILED), f"{entry['path']}: {last.status} {last.reason}"
        assert last.error not in ("", "StethoscopeError"), f"{entry['path']}: {last.reason}"


def test_what_runs_forever_or_eats_everything_is_ended(corpus, endings):
    for entry in manifest(corpus)["files"]:
        ends = {"timeout": {Status.TIMED_OUT}, "memory-limit": {Status.OUT_OF_MEMORY, Status.TIMED_OUT}}.get(
            entry["runtime"]
        )
        if ends:
            assert endings[entry["path"]][1].status in ends, entry["path"]


def test_every_refusal_is_one_sentence_about_this_file(corpus, endings):
    for entry in manifest(corpus)["files"]:
        for result in endings[entry["path"]]:
            if result.status in (Status.REFUSED, Status.FAILED):
                assert entry["name"] in result.reason, f"{entry['path']}: {result.reason}"
                assert "Traceback" not in result.reason
                assert "\n" not in result.reason


def test_the_engine_is_well_afterwards(endings, engine, corpus):
    job = Job("describe", {"model": ModelFile.at(corpus / "onnx" / "ok.onnx")}, {}, Budget(1 << 30, 30))
    assert engine.wait(engine.submit(job), 60).status is Status.OK


@pytest.mark.skipif(not (containment.abi() and seccomp.supported()), reason="the kernel has no second layer")
def test_consent_alone_does_not_let_code_out(corpus, endings):
    """The runs with their code allowed are held by the kernel: that they existed is what makes the first test mean something."""
    allowed = [name for name, results in endings.items() if len(results) == 3 and results[1].status is Status.REFUSED]
    assert len(allowed) >= 5
