"""Keras 1 and 2 `.h5` models into tf_keras: what today's tf_keras refuses in old files is put right first. Worker only.

Source: keras/engine/saving.py of Keras 2.2 (`preprocess_weights_for_loading`), which also flipped Theano's kernels.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.errors import CannotRun
from stethoscope.models.containers import hdf5
from stethoscope.models.formats.keras_model.keras_builtins import own_layers
from stethoscope.models.formats.keras_model.keras_describe import Description
from stethoscope.types import ModelFile

Arrays = list[npt.NDArray[Any]]
_FLIPPED = ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "ConvLSTM2D")


def load_version2(file: ModelFile, description: Description, *, trusted: bool) -> Any:
    """Returns a `tf_keras.Model` with the file's weights.

    Raises:
        CannotRun: the weights do not fit the layers.
    """
    import tf_keras
    from tf_keras.src.saving import serialization_lib

    with serialization_lib.SafeModeScope(not trusted):
        model = tf_keras.models.model_from_config(accepted_config(description.model), own_layers(tf_keras))
    with hdf5.open_h5(file.name, str(file.path)) as opened:
        if "model_weights" in opened and description.weight_bytes:
            _load_weights(description, opened["model_weights"], model)
    return model


def accepted_config(model: dict[str, Any]) -> dict[str, Any]:
    """A copy of the description without settings that tf_keras no longer accepts."""
    changed = copy.deepcopy(model)
    waiting: list[Any] = [changed]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            if isinstance(value.get("config"), dict) and isinstance(value.get("class_name"), str):
                _accept(value)
            waiting.extend(value.values())
    return changed


def _accept(layer: dict[str, Any]) -> None:
    config = layer["config"]
    if layer["class_name"] == "Model":
        layer["class_name"] = "Functional"
    if layer["class_name"] == "InputLayer":
        config.pop("ragged", None) if config.get("ragged") is False else None
        if "batch_shape" in config:
            config["batch_input_shape"] = config.pop("batch_shape")
    if (
        isinstance(config.get("axis"), list)
        and len(config["axis"]) == 1
        and layer["class_name"] != "LayerNormalization"
    ):
        config["axis"] = config["axis"][0]
    if layer["class_name"] == "GRU" and "reset_after" not in config and "units" in config:
        # Keras before 2.1.6 knew only one kind of GRU, which is not today's default.
        config["reset_after"] = False
    if layer["class_name"] in ("LSTM", "GRU", "SimpleRNN") and config.get("implementation") == 0:
        config["implementation"] = 1


def _load_weights(description: Description, group: Any, model: Any) -> None:
    from tf_keras.src.saving.legacy import hdf5_format

    subject = description.subject
    version = "1" if description.display_format.startswith("Keras 1") else description.version
    names = [str(name) for name in hdf5.attribute(subject, group, "layer_names") or ()]
    stored = [(name, _arrays(subject, group[name])) for name in names if name in group]
    stored = [(name, arrays) for name, arrays in stored if arrays]
    layers = [layer for layer in model.layers if layer.weights]
    by_name = {layer.name: layer for layer in layers}
    if len(stored) != len(layers):
        raise CannotRun(
            f"{subject}: its settings describe {len(layers)} layers with weights, it stores {len(stored)}. Save the model again."
        )
    for position, (name, arrays) in enumerate(stored):
        layer = by_name.get(name, layers[position])
        values = hdf5_format.preprocess_weights_for_loading(layer, arrays, version, description.backend or None)
        if description.backend == "theano":
            values = turned(type(layer).__name__, values)
        _assign(subject, layer, values)
    if "top_level_model_weights" in group:
        own = model._trainable_weights + model._non_trainable_weights
        for variable, value in zip(own, _arrays(subject, group["top_level_model_weights"]), strict=False):
            variable.assign(value)


def _assign(subject: str, layer: Any, values: Arrays) -> None:
    # The files' own order: everything trained first, as when the flags were set at saving time.
    variables = layer.trainable_weights + layer.non_trainable_weights
    shapes = [tuple(variable.shape) for variable in variables]
    if shapes != [tuple(value.shape) for value in values] and [tuple(v.shape) for v in layer.weights] == [
        tuple(v.shape) for v in values
    ]:
        variables = layer.weights
    elif shapes != [tuple(value.shape) for value in values]:
        raise CannotRun(
            f"{subject}: layer {layer.name!r} expects weights of shapes {shapes}, the file holds {[tuple(v.shape) for v in values]}. Save the model again."
        )
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


def _arrays(subject: str, group: Any) -> Arrays:
    names = hdf5.attribute(subject, group, "weight_names") or ()
    return [np.asarray(group[str(name)]) for name in names]


def turned(class_name: str, values: Arrays) -> Arrays:
    """Theano convolves, TensorFlow correlates: the same kernel turned by 180 degrees over its spatial axes.

    Source: keras.utils.conv_utils.convert_kernel of Keras 2.2.
    """
    count = 2 if class_name == "ConvLSTM2D" else 1 if class_name in _FLIPPED else 0
    return [
        np.flip(value, tuple(range(value.ndim - 2))) if index < count else value for index, value in enumerate(values)
    ]
