"""Whatever kind of job memory runs out for, the answer is the same: that it was memory, in which phase, what to change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sample_models.canonical import save_keras
from stethoscope.framework_errors import shortage_of
from stethoscope.models.formats import detect
from stethoscope.tasks import all_tasks
from stethoscope.types import Budget, Job, ModelFile, Status

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
ASKS_WHAT_FITS = {"estimate", "sweep"}
"""Memory that runs out in a call of these is their answer: see `tests/tasks/test_sweep.py`."""
RUNS_NOTHING = {
    *(
        "baseline",
        "compare_architectures",
        "describe",
        "devices",
        "examine_runs",
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
        "read_versions",
        "study_data",
        "weights_of_layer",
    ),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    """A network of little weight whose rows are large, twice, and rows for it."""
    import keras

    folder, layers = tmp_path_factory.mktemp("short"), keras.layers
    model = keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 3), name="image"),
            layers.Conv2D(32, 3, padding="same", activation="relu", name="conv0"),
            layers.Conv2D(32, 3, padding="same", activation="relu", name="conv1"),
            layers.GlobalAveragePooling2D(name="pool"),
            layers.Dense(CLASSES, activation="softmax", name="classes"),
        ],
        name="wide",
    )
    random = np.random.default_rng(0)
    x = np.repeat(np.repeat(random.random((ROWS, 8, 8, 3), np.float32), SIDE // 8, 1), SIDE // 8, 2)
    np.savez_compressed(folder / "data.npz", x=x, y=np.arange(ROWS) % CLASSES)
    saved = save_keras(model, folder / "model.keras")
    return {"model": saved, "other": saved, "data": folder / "data.npz"}


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
    assert result.reason and "Traceback" not in result.reason
    assert not result.incident
