"""What watching a training costs: whole runs with instruments against the same runs without, alternating."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark

REPEATS = 7
LIMIT = 1.5


def run(folder: Path) -> dict[str, Any]:
    """A dense and a convolutional model; the fastest of `REPEATS` runs each, tracing not counted."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    figures: dict[str, Any] = {}
    for name, setup in {"dense": _dense(), "conv": _conv()}.items():
        figures[name] = _ratio(setup)
    return figures | {"holds": all(item["ratio"] <= LIMIT for item in figures.values())}


def _ratio(setup: Any) -> dict[str, float]:
    from stethoscope.training.trainer import Trainer

    trainer = Trainer(setup)
    times: dict[bool, list[float]] = {False: [], True: []}
    for instrument in (False, True):
        trainer.run(setup, 0, time_s=60, instrument=instrument, scores_between=False)
    for _ in range(REPEATS):
        for instrument in (False, True):
            begin = time.perf_counter()
            curve = trainer.run(setup, 0, time_s=60, instrument=instrument, scores_between=False)
            times[instrument].append(time.perf_counter() - begin)
            steps = curve.steps_done
    plain, watched = (round(min(times[instrument]), 4) for instrument in (False, True))
    return {
        "steps": steps,
        "samples": len(trainer.sampled_steps),
        "plain_s": plain,
        "instrumented_s": watched,
        "ratio": round(watched / plain, 3),
    }


def _dense() -> Any:
    import keras

    random = np.random.default_rng(0)
    x = random.normal(size=(2_000, 20)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] > 0).astype(np.float32)
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((20,)),
            *(layers.Dense(64, activation="relu") for _ in range(3)),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    return _setup(model, x, y, "binary_crossentropy", epochs=16)


def _conv() -> Any:
    import keras

    random = np.random.default_rng(0)
    x = random.normal(size=(800, 28, 28, 1)).astype(np.float32)
    y = random.integers(0, 10, 800)
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, activation="relu"),
            layers.Flatten(),
            layers.Dense(10, activation="softmax"),
        ]
    )
    return _setup(model, x, y, "sparse_categorical_crossentropy", epochs=4)


def _setup(model: Any, x: Any, y: Any, loss: str, epochs: int) -> Any:
    from stethoscope.data.rows import Bound
    from stethoscope.evidence.fit import FitSettings
    from stethoscope.training.from_job import make_setup
    from stethoscope.types import Architecture, CompileSettings, TensorSpec

    adam = {"class_name": "Adam", "config": {"learning_rate": 0.001}}
    settings = CompileSettings(loss, "Adam", 0.001, (), {"loss": loss, "optimizer": adam})
    inputs, outputs = (TensorSpec("x", (None, *x.shape[1:]), "float32"),), (TensorSpec("y", None, "float32"),)
    architecture = Architecture("keras", "", 0, 0, inputs, outputs, (), settings)
    return make_setup(model, architecture, Bound({"x": x}, {"y": y}), FitSettings(epochs=epochs), ("x",))[0]


BENCHMARK = Benchmark("instrumented_training", "a run with instruments takes at most 1.5 times a plain one", run)
