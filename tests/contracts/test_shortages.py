"""Whatever kind of job memory runs out for, the answer is the same: that it was memory, in which phase, what to change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from sample_models.canonical import save_keras
from stethoscope.cli.app import app
from stethoscope.framework_errors import shortage_of
from stethoscope.models.formats import detect
from stethoscope.tasks import all_tasks
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status

MIB = 1 << 20
SIDE, ROWS, CLASSES = 256, 32, 4
FIT = {"epochs": 1, "batch_size": 16, "loss": "sparse_categorical_crossentropy", "optimizer": "adam"}
BATCH = {"settings": {"batch_size": 16}}


@dataclass(frozen=True)
class Asked:
    """A job that needs more than it is given."""

    params: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ("model", "data")
    memory_bytes: int = 40 * MIB
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Other roles of these files."""


SHORT: dict[str, Asked] = {
    "activations": Asked({"batch_size": 16}),
    "attribute": Asked({"method": "integrated_gradients", "target": "top", "steps": 32}),
    "compare": Asked({"rows": 16}, ("model", "data", "other")),
    "consistency": Asked({"batch_size": 16, "runs": 2}),
    "convert": Asked({"target": "onnx", "rows": 16}),
    "drift": Asked({"layer": "conv1"}, ("model", "data"), renamed={"data": "reference current"}),
    "endurance": Asked({**BATCH, "tests": ["latency"], "calls": 12, "test_s": 2}),
    "examine": Asked(memory_bytes=16 * MIB),
    "label_doubts": Asked(memory_bytes=16 * MIB),
    "latency": Asked({"batch_sizes": [16], "seconds": 0.2}),
    "look": Asked({"layers": ["conv0"], "places": [0, 1, 2, 3, 4, 5, 6, 7]}),
    "overfit": Asked({"fit": FIT, "samples": 16, "steps": 4}),
    "placement": Asked({"fit": FIT, "with_xla": "as saved"}),
    "predict": Asked({**BATCH, "samples": 32}),
    "projection": Asked({"layer": "conv1", "batch_size": 16}, memory_bytes=16 * MIB),
    "prove": Asked({"fit": FIT, "fixes": [[{"kind": "set-batch-size", "params": {"batch_size": 8}}]], "time_s": 5}),
    "record": Asked({"rows": 16}),
    "replicas": Asked({"fit": FIT, "devices": 2, "epochs": 1, "max_rows": 32}),
    "score": Asked({"fit": FIT, "time_s": 2}),
    "share": Asked({**BATCH, "seconds": 1}),
    "similarity": Asked({"layer": "conv1", "batch_size": 16}, memory_bytes=16 * MIB),
    "train": Asked({"fit": FIT, "time_s": 2}),
    "trial": Asked({**BATCH, "samples": 32, "open_size": None}),
}
"""Every kind that runs a model, except those that are asked what fits."""
ASKS_WHAT_FITS = {"estimate", "sweep", "sweep_training"}
"""Memory that runs out in a call of these is their answer: see `tests/tasks/test_sweep.py`."""
RUNS_NOTHING = {
    *(
        "baseline",
        "compare_architectures",
        "compare_weights",
        "describe",
        "devices",
        "examine_runs",
        "fit_weights",
        "export_samples",
        "fit_data",
        "probe",
    ),
    *(
        "profile",
        "read_data",
        "read_logs",
        "read_media",
        "read_runs",
        "read_script",
        "read_versions",
        "study_data",
        "weights_of_layer",
    ),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    """A network of little weight whose rows are large, twice; one that needs much more in training; and rows for each."""
    folder = tmp_path_factory.mktemp("short")
    wide = save_keras(network(SIDE, 2), folder / "model.keras")
    deep = save_keras(network(SIDE // 4, 12), folder / "deep.keras")
    data, few = rows(folder / "data.npz", SIDE), rows(folder / "small.npz", SIDE // 4)
    return {"model": wide, "other": wide, "data": data, "deep": deep, "small": few}


def network(side: int, depth: int) -> Any:
    import keras

    layers = keras.layers
    convolutions = [
        layers.Conv2D(32, 3, padding="same", activation="relu", name=f"conv{place}") for place in range(depth)
    ]
    ends = [layers.GlobalAveragePooling2D(name="pool"), layers.Dense(CLASSES, activation="softmax", name="classes")]
    return keras.Sequential([keras.Input((None, None, 3), name="image"), *convolutions, *ends], name=f"net{depth}")


def rows(path: Path, side: int) -> Path:
    small = np.random.default_rng(0).random((ROWS, 8, 8, 3), np.float32)
    x = np.repeat(np.repeat(small, side // 8, 1), side // 8, 2)
    np.savez_compressed(path, x=x, y=np.arange(ROWS) % CLASSES)
    return path


def job_of(kind: str, files: Mapping[str, Path]) -> Job:
    asked = SHORT[kind]
    given = {new: files[role] for role in asked.files for new in asked.renamed.get(role, role).split()}
    worker = detect(ModelFile.at(files["model"])).worker
    named = {role: ModelFile.at(path) for role, path in given.items()}
    return Job(kind, named, asked.params, Budget(asked.memory_bytes, 120), worker)


def test_every_kind_of_job_that_runs_a_model_is_among_them():
    assert set(all_tasks()) == {*SHORT, *ASKS_WHAT_FITS, *RUNS_NOTHING}


@pytest.mark.parametrize("kind", SHORT)
def test_memory_that_runs_out_is_the_answer(engine, files, kind):
    result = engine.wait(engine.submit(job_of(kind, files)), 120)
    assert result.status is Status.OUT_OF_MEMORY, (result.status, result.phase, result.reason)
    report = shortage_of(result)
    assert report is not None
    assert report.phase == result.phase
    assert f"“{result.phase}”" in result.reason or report.advice
    assert report.certain and report.advice and report.change
    assert report.limit_bytes == SHORT[kind].memory_bytes
    assert None not in (report.tensor_shape or ()), report
    assert result.reason and "Traceback" not in result.reason
    assert not result.incident


COMMANDS: dict[str, tuple[str, ...]] = {
    "activations": ("--batch-size", "16"),
    "check": ("--fit", "epochs=1,batch_size=16,loss=sparse_categorical_crossentropy", "--train-time", "2"),
    "compare": ("--batch-size", "16", "--no-edges"),
    "consistency": ("--batch-size", "16", "--runs", "2"),
    "convert": ("--to", "onnx", "--rows", "16"),
    "data": ("--seconds", "5"),
    "drift": ("--layer", "conv1"),
    "endurance": ("--batch-size", "16", "--tests", "latency", "--calls", "12", "--test-time", "2"),
    "latency": ("--batch-sizes", "16", "--seconds", "0.2"),
    "placement": ("--fit", "batch_size=16,loss=sparse_categorical_crossentropy,optimizer=adam", "--xla", "as-saved"),
    "predict": ("--batch-size", "16"),
    "sweep": ("--batch-sizes", "16"),
}
"""Every command that runs a model within a memory limit, with what makes it need more."""
READ_ONLY = {"curves", "versions"}


def test_every_command_with_a_memory_limit_is_among_them():
    group = typer.main.get_command(app)
    commands = {name: group.get_command(None, name) for name in group.list_commands(None)}
    limited = {name for name, one in commands.items() if any(given.name == "memory_limit" for given in one.params)}
    assert limited == {*COMMANDS, *READ_ONLY}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_ends_with_what_it_was(commands, files, tmp_path, command):
    model, data = files["model"], files["data"]
    given = {"compare": (model, model, "--data", data), "drift": (data, data, "--model", model)}
    given["data"] = data, "--model", model
    words = (*given.get(command, (model, "--data", data)), *COMMANDS[command], "--memory-limit", "40MiB")
    words += ("--out", tmp_path / "made.onnx") if command == "convert" else ()
    done = commands.run(command, *words, "--json")
    value = json.loads(done.stdout)
    assert value["status"] == "out_of_memory", done.stderr
    assert done.returncode == (1 if command == "check" else 2)
    assert value["phase"] and value["reason"]
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stdout + done.stderr
    if command not in ("compare", "sweep"):
        assert value["oom"]["phase"] == value["phase"] and value["oom"]["advice"]


def test_a_training_says_which_batch_was_seen_to_fit(engine, files):
    def trained(size: int) -> JobResult:
        params = {"fit": {**FIT, "batch_size": size}, "time_s": 2, "trials": False}
        roles = {"model": ModelFile.at(files["deep"]), "data": ModelFile.at(files["small"])}
        job = Job("train", roles, params, Budget(140 * MIB, 120), "tensorflow")
        return engine.wait(engine.submit(job), 120)

    ended = trained(16)
    report = shortage_of(ended)
    assert (ended.status, report.batch_size) == (Status.OUT_OF_MEMORY, 16), ended.reason
    fits = report.largest_batch_estimate
    assert 1 <= fits.low <= fits.high < 16
    assert {"batch_size": fits.low}.items() <= {one.setting: one.to for one in report.change}.items()
    assert report.peak_bytes == ended.peak_rss_bytes > 100 * MIB
    assert trained(fits.low).status is Status.OK


def test_a_diagnosis_keeps_what_it_found_beside_one_finding_of_memory(commands, files):
    words = ("check", files["deep"], "--data", files["small"], *COMMANDS["check"], "--memory-limit", "140MiB")
    done = commands.run(*words, "--json", "--fail-on", "critical")
    value = json.loads(done.stdout)
    assert done.returncode == 2, done.stderr
    assert (value["status"], value["phase"]) == ("out_of_memory", "train")
    assert value["oom"]["batch_size"] in (8, 16)
    assert [one["check_id"] for one in value["findings"]].count("out-of-memory") == 1
    first = value["findings"][0]
    assert (first["check_id"], first["fault"], first["severity"], first["where"]) == (
        *("out-of-memory", "memory", "high", "fit"),
    )
    assert any(f"batch_size={size}" in first["fix"]["code"] for size in (1, 2, 4, 8))
    stages = {one["id"]: one for one in value["stages"]}
    short = {one["id"] for one in value["stages"] if one["shortage"]}
    assert "train" in short and "profile" not in short
    assert stages["profile"]["status"] == "done"
    seen = {one["check_id"]: one["status"] for one in value["outcomes"]}
    assert seen["label-range"] == "ok" and seen["learning-rate-low"] == "skipped"
    assert "failed" not in seen.values()
