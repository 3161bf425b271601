"""The live model of a training: built from its configuration, weighted for a seed, called with a list of arrays. Worker only."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.errors import CannotRun
from stethoscope.framework_errors import gist
from stethoscope.program.setup import Setup

LITTLE_BYTES = 128 << 20
MAX_KEPT_BYTES = 256 << 20
"""Initial weights of a seed are kept for the next run up to this size; beyond it they are made again."""


def package(modern: bool) -> Any:
    """Keras 3, or tf_keras for models of Keras 2."""
    if modern:
        import keras

        return keras
    import tf_keras

    return tf_keras


def build(setup: Setup) -> Any:
    """Returns a new model from the setup's configuration.

    Raises:
        CannotRun: the configuration builds no model; says why.
    """
    if setup.config is None:
        raise CannotRun(
            "The model: expected one that Keras can rebuild from its configuration, got a subclassed model without "
            "get_config. Save it as a functional model."
        )
    keras = package(setup.modern)
    try:
        # The file was opened for running, so whatever code it holds has been allowed for it.
        return keras.saving.deserialize_keras_object(copy.deepcopy(setup.config), safe_mode=False)
    except Exception as error:
        raise CannotRun(f"The model: Keras cannot build it: {gist(error)}.") from error


def call(model: Any, modern: bool, tensors: Sequence[Any], *, training: bool) -> list[Any]:
    """Calls the model on one tensor per input, in order; returns its outputs flat, in Keras' order."""
    packed = as_taken(model, modern, tensors)
    if modern:
        import keras

        return list(keras.tree.flatten(model(packed, **_mode(model, training))))
    import tensorflow as tf

    return list(tf.nest.flatten(model(packed, training=training)))


def as_taken(model: Any, modern: bool, values: Sequence[Any], *, outputs: bool = False) -> Any:
    """One value for each input in the structure that the model takes, or for each output in the one it gives."""
    words = ("_outputs_struct", "_nested_outputs") if outputs else ("_inputs_struct", "_nested_inputs")
    structure = getattr(model, words[0] if modern else words[1], None)
    if structure is None:
        return _loose(list(values))
    if modern:
        import keras

        return keras.tree.pack_sequence_as(structure, list(values))
    import tensorflow as tf

    return tf.nest.pack_sequence_as(structure, list(values))


def rows_at_once(setup: Setup, model: Any, most: int) -> int:
    """How many rows to call the model on at once, so that looking at it takes no more memory than a step of its training.

    `most` where that costs little; where what its layers put out would take more than `LITTLE_BYTES`, no more than the batch
    that it is trained with. Called eagerly, Keras holds all of it until the end.
    """
    each = sum(_row_bytes(layer, setup) for layer in _flat(model))
    return most if most * each <= LITTLE_BYTES else max(1, min(most, setup.batch_size))


def _flat(model: Any) -> list[Any]:
    flatten = getattr(model, "_flatten_layers", None)
    return list(getattr(model, "layers", ())) if flatten is None else list(flatten())


def _row_bytes(layer: Any, setup: Setup) -> int:
    """Of a layer's outputs for one row, open dimensions as long as the longest of the data; 0 where Keras does not say."""
    try:
        outputs = layer.output
    except (AttributeError, ValueError):  # it was never called, or more than once
        return 0
    longest = max((side for array in setup.x.values() for side in array.shape[1:]), default=1)
    sizes = 0
    for output in outputs if isinstance(outputs, list | tuple) else [outputs]:
        shape = getattr(output, "shape", None)
        sizes += 4 * math.prod(longest if side is None else int(side) for side in tuple(shape or ())[1:])
    return sizes


def as_fed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """As `fit` converts arrays: float64 becomes float32, everything else keeps its type."""
    return array.astype(np.float32) if array.dtype in (np.float64, np.float16) else array


def _loose(tensors: list[Any]) -> Any:
    return tensors[0] if len(tensors) == 1 else tensors


def _mode(model: Any, training: bool) -> dict[str, bool]:
    return {"training": training} if getattr(model, "_call_has_training_arg", True) else {}


def variables_of(model: Any) -> list[Any]:
    """Every variable a run may change: weights, moving statistics, the state of random generators."""
    found = getattr(model, "variables", None) or model.weights
    return [variable for variable in found if hasattr(variable, "assign")]


def snapshot(variables: Sequence[Any]) -> list[npt.NDArray[Any]]:
    """Copies of the variables' values."""
    return [np.array(variable) for variable in variables]


def restore(variables: Sequence[Any], values: Sequence[npt.NDArray[Any]]) -> None:
    """Assigns values taken by `snapshot`."""
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


class Weights:
    """Gives a model the weights that a run of one seed starts from."""

    def __init__(self, model: Any, setup: Setup) -> None:
        self._model, self._variables = model, variables_of(model)
        self._loaded = snapshot(self._variables) if setup.config is None else None
        self._kept: dict[int, list[npt.NDArray[Any]]] = {}
        self._config = setup.config

    def start(self, setup: Setup, seed: int) -> None:
        """Seed 0 starts from the file's weights when `setup.from_file`; others from new ones, frozen layers apart.

        New weights come from the model's own initialisers, seeded. The random state of dropout is seeded too.
        """
        if self._loaded is not None:
            restore(self._variables, self._loaded)
            return
        values = self._kept.get(seed)
        if values is None:
            values = self._initial(setup, seed)
            if sum(value.nbytes for value in values) * (len(self._kept) + 1) <= MAX_KEPT_BYTES:
                self._kept[seed] = values
        restore(self._variables, values)
        if setup.weights is None:
            return
        stored: dict[str, list[npt.NDArray[Any]]] = {}
        for name, value in zip(setup.weight_layers, setup.weights, strict=True):
            stored.setdefault(name, []).append(value)
        for layer in self._model.layers:
            if layer.name in setup.keep_weights or (setup.from_file and seed == 0):
                _place(layer, stored.get(layer.name, []))

    def _initial(self, setup: Setup, seed: int) -> list[npt.NDArray[Any]]:
        package(setup.modern).utils.set_random_seed(seed)
        return snapshot(variables_of(build(setup)))


def _place(layer: Any, values: list[npt.NDArray[Any]]) -> None:
    """Gives a layer stored weights when every shape fits."""
    weights = list(layer.weights)
    if len(weights) == len(values) and all(
        tuple(weight.shape) == value.shape for weight, value in zip(weights, values, strict=True)
    ):
        for weight, value in zip(weights, values, strict=True):
            weight.assign(value)
