"""A model that does nothing, with the inputs of another: what it costs is the framework's. Used in a worker."""

from __future__ import annotations

from stethoscope.errors import CannotRun
from stethoscope.framework_errors import gist
from stethoscope.models.capabilities import LiveModel
from stethoscope.types import Refusal, Runner


def trivial(runner: Runner) -> Runner | None:
    """A runner of a model that hands its inputs on; None for files that hold no Keras model.

    Raises:
        CannotRun: Keras cannot make it from these inputs.
    """
    live = runner.can(LiveModel)
    if isinstance(live, Refusal):
        return None
    keras = live.keras
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
    return live.replaced(model)
