"""Small compiled models with their data, saved for jobs that train."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from stethoscope.types import Budget, Job, ModelFile, Status
from tests.deterministic import begin, save


def blobs(rows: int = 240) -> tuple[Any, Any]:
    """Three separate clouds in four columns; class numbers."""
    rng = np.random.default_rng(0)
    y = np.arange(rows) % 3
    centres = np.array([[0, 0, 2, 2], [2, 0, 0, -2], [-2, 2, 0, 0]], np.float32)
    return (centres[y] + 0.3 * rng.standard_normal((rows, 4))).astype(np.float32), y


def saved(folder: Path, layers: Any, loss: str, rate: float = 0.05, optimizer: str = "SGD", **arrays: Any) -> Job:
    """Saves a Sequential model made by `layers(keras.layers)` and its data; returns a job without kind and parameters."""
    import keras

    begin(1)
    model = keras.Sequential([keras.layers.Input((4,)), *layers(keras.layers)])
    model.compile(optimizer=getattr(keras.optimizers, optimizer)(learning_rate=rate), loss=loss)
    save(model, folder / "model.keras")
    files = {"model": ModelFile.at(folder / "model.keras")}
    if arrays:
        np.savez(folder / "data.npz", **arrays)
        files["data"] = ModelFile.at(folder / "data.npz")
    return Job("", files, {}, Budget(2 << 30, 120), "tensorflow")


def answer(engine: Any, job: Job, kind: str, **params: Any) -> dict[str, Any]:
    """Runs the job and returns its value."""
    result = engine.wait(engine.submit(Job(kind, job.files, params, job.budget, job.worker)), 150)
    assert result.status is Status.OK, result.reason
    return dict(result.value)
