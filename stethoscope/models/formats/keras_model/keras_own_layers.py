"""Layers that Keras defines for its applications and does not export: a file that uses them needs them by name. Worker only."""

from __future__ import annotations

import importlib
from typing import Any

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
