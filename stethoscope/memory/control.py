"""A model that does nothing, with the inputs of another: what it costs is the framework's. Used in a worker."""

from __future__ import annotations

from typing import Any

from stethoscope.errors import CannotRun
from stethoscope.framework_errors import gist
from stethoscope.memory.call_styles import is_keras
from stethoscope.types import Runner


def trivial(runner: Runner) -> Runner | None:
    """A runner of a model that hands its inputs on; None for files that hold no Keras model.

    Raises:
        CannotRun: Keras cannot make it from these inputs.
    """
    if not is_keras(runner):
        return None
    held: Any = runner
    keras = held.keras
    try:
        given = [
            keras.Input(batch_shape=spec.shape, dtype=spec.dtype or "float32", name=spec.name) for spec in runner.inputs
        ]
        passed = [keras.layers.Identity(dtype=tensor.dtype)(tensor) for tensor in given]
        model = keras.Model(given, passed)
    except Exception as error:
        raise CannotRun(
            f"A control model: expected Keras to build one from these inputs, got “{gist(error)}”."
        ) from error
    made: Runner = held.replaced(model)
    return made
