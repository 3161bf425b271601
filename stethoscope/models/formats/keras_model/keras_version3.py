"""Keras 3 `.h5` models into Keras 3, which does not find its own operations in such files again. Worker only.

`x[:, 0]` or `x * 2` become operations `GetItem` and `Multiply`; an `.h5` file names the class without its module, so Keras
looks for a layer of that name. Here each operation gets a name of its own before the model is rebuilt.
"""

from __future__ import annotations

import copy
from typing import Any

from stethoscope.models.containers import hdf5
from stethoscope.models.formats.keras_model.keras_config import Network
from stethoscope.models.formats.keras_model.keras_describe import Description
from stethoscope.models.formats.keras_model.keras_own_layers import own_layers
from stethoscope.models.formats.keras_model.keras_shapes import is_operation
from stethoscope.types import ModelFile

_PREFIX = "operation "


def load_version3_h5(file: ModelFile, description: Description, *, trusted: bool) -> Any:
    """Returns a `keras.Model` with the file's weights."""
    import keras
    from keras.src.legacy.saving import legacy_h5_format, saving_options, saving_utils
    from keras.src.saving import serialization_lib

    config = copy.deepcopy(description.model)
    names = set() if description.network is None else _name_operations(config, description.network)
    classes = own_layers(keras) | {_PREFIX + name: kind for name, kind in _operation_classes().items() if name in names}
    with saving_options.keras_option_scope(use_legacy_config=True), serialization_lib.SafeModeScope(not trusted):
        model = saving_utils.model_from_config(config, custom_objects=classes)
        with hdf5.open_h5(file.name, str(file.path)) as opened:
            if description.weight_bytes:
                legacy_h5_format.load_weights_from_hdf5_group(opened["model_weights"], model)
    return model


def _name_operations(model: dict[str, Any], network: Network) -> set[str]:
    """Renames the classes of operations in a serialized model; returns the original names."""
    found: set[str] = set()
    layers = model["config"]["layers"] if isinstance(model["config"], dict) else model["config"]
    for layer, entry in zip(layers, network.entries, strict=True):
        if entry.network is not None:
            found |= _name_operations(layer, entry.network)
        elif is_operation(entry):
            found.add(entry.class_name)
            layer["class_name"] = _PREFIX + entry.class_name
    return found


def _operation_classes() -> dict[str, Any]:
    from keras.src.ops.operation import Operation

    found: dict[str, Any] = {}
    waiting: list[Any] = list(Operation.__subclasses__())
    for kind in waiting:
        waiting.extend(kind.__subclasses__())
        if kind.__module__.startswith("keras.src.ops"):
            found[kind.__name__] = kind
    return found
