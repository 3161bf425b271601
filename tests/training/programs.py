"""Small trainings for tests: a compiled model with its data, as a Setup."""

from __future__ import annotations

from typing import Any

import numpy as np

from stethoscope.data.rows import Bound
from stethoscope.evidence.fit import FitSettings
from stethoscope.program.setup import Setup
from stethoscope.training.from_job import make_setup
from stethoscope.types import Architecture, CompileSettings, TensorSpec


def blobs(rows: int = 150, features: int = 4, classes: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """Clouds of points around one centre per class, and the class numbers."""
    random = np.random.default_rng(seed)
    y = random.integers(0, classes, rows)
    centres = np.random.default_rng(99).normal(size=(classes, features)) * 3
    return (centres[y] + random.normal(size=(rows, features))).astype(np.float32), y


def setup_of(
    model: Any, arrays: dict[str, Any], targets: dict[str, Any], compiled: dict[str, Any], **fit: Any
) -> Setup:
    """The setup of a live model; `compiled` has "loss" and "optimizer" ({"class_name", "config"})."""
    inputs = tuple(TensorSpec(name, (None, *array.shape[1:]), str(array.dtype)) for name, array in arrays.items())
    outputs = tuple(TensorSpec(name, None, "float32") for name in targets)
    optimizer = compiled.get("optimizer")
    settings = CompileSettings(compiled.get("loss"), optimizer and optimizer["class_name"], None, (), dict(compiled))
    architecture = Architecture("keras", "", 0, 0, inputs, outputs, (), settings)
    setup, _ = make_setup(model, architecture, Bound(arrays, targets), FitSettings(**fit), tuple(arrays))
    return setup


def classifier(keras: Any, units: int = 8) -> Any:
    """4 features, a hidden layer, 3 classes."""
    keras.utils.set_random_seed(1)
    return keras.Sequential(
        [
            keras.layers.Input((4,)),
            keras.layers.Dense(units, activation="relu"),
            keras.layers.Dense(3, activation="softmax"),
        ]
    )
