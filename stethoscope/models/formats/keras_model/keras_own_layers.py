"""Layers that Keras defines for its applications and does not export: a file that uses them needs them by name. Worker only.

Writes a live Keras model to a file and loads it from there. Imported only in a worker.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from stethoscope.types import ModelFile

_MODULES = ("convnext", "inception_resnet_v2")


def own_layers(keras: Any) -> dict[str, Any]:
    """Custom objects of a package (`keras` or `tf_keras`): LayerScale, CustomScaleLayer and the like, by class name."""
    found: dict[str, Any] = {}
    for name in _MODULES:
        module = importlib.import_module(f"{keras.__name__}.src.applications.{name}")
        for thing in vars(module).values():
            if (
                isinstance(thing, type)
                and issubclass(thing, keras.layers.Layer)
                and thing.__module__ == module.__name__
            ):
                found[thing.__name__] = thing
    return found


_OLD_SUFFIXES = (".h5", ".hdf5")


def saved_and_loaded(file: ModelFile, model: Any, keras: Any, folder: Path, *, trusted: bool) -> Any:
    """Returns the model that comes back from a file in `folder`; the file is removed again.

    Args:
        file: where the model came from: an `.h5` file is saved as `.h5`, everything else as `.keras`.
        model: the live model.
        keras: the package it is of.
        folder: where the file is written.
        trusted: whether code inside the model may be run when it is loaded.

    Raises:
        Exception: whatever Keras or a class of the model's own raises when it cannot be saved or rebuilt.
    """
    path = folder / ("saved.h5" if file.suffix in _OLD_SUFFIXES else "saved.keras")
    try:
        model.save(path)
        return keras.models.load_model(path, custom_objects=own_layers(keras), compile=False, safe_mode=not trusted)
    finally:
        path.unlink(missing_ok=True)
