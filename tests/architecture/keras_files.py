"""Keras models as files: description alone, or with weights; made once per test run."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import h5py

from stethoscope.models.formats import detect
from stethoscope.types import Architecture, ModelFile


def described(model: Any, folder: Path) -> Architecture:
    """What the file of a model says, its weights left out."""
    path = folder / f"{model.name}.keras"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("config.json", model.to_json())
        out.writestr("metadata.json", json.dumps({"keras_version": "3.0.0"}))
    file = ModelFile.at(path)
    return detect(file).describe(file)


def described_h5(model: Any, folder: Path) -> Architecture:
    """What an `.h5` file of a Keras 2 model says, its weights left out."""
    path = folder / f"{model.name}.h5"
    with h5py.File(path, "w") as out:
        out.attrs["keras_version"], out.attrs["backend"] = "2.15.0", "tensorflow"
        out.attrs["model_config"] = model.to_json()
        out.create_group("model_weights").attrs["layer_names"] = []
    file = ModelFile.at(path)
    return detect(file).describe(file)


def work_of(architecture: Architecture, batch: int = 1) -> dict[str, Any]:
    """Costs by path."""
    from stethoscope.architecture.layer_costs import costs

    return {cost.path: cost for cost in costs(architecture, batch)}
