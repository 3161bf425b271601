"""What Keras 2 leaves in a SavedModel about training: `keras_metadata.pb`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stethoscope.models.containers import limits
from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.models.formats.tf_graph.saved_model_files import Located
from stethoscope.types import CompileSettings

_METADATA = "keras_metadata.pb"


def compile_settings(located: Located) -> CompileSettings | None:
    """Loss, optimizer, learning rate and metrics as Keras stored them; None when it did not, or they cannot be read."""
    from google.protobuf.message import DecodeError

    size = located.sizes.get(_METADATA, 0)
    if not size or size > limits.MAX_CONFIG_BYTES:
        return None
    try:
        with located.view(_METADATA) as view:
            saved = tf_proto.messages().SavedMetadata.FromString(bytes(view))
        root = next((node.metadata for node in saved.nodes if node.node_path == "root"), "")
        training = json.loads(root).get("training_config") if root else None
    except (DecodeError, ValueError, RecursionError, AttributeError):
        return None
    if not isinstance(training, Mapping):
        return None
    optimizer = training.get("optimizer_config")
    config = optimizer.get("config") if isinstance(optimizer, Mapping) else None
    rate = config.get("learning_rate") if isinstance(config, Mapping) else None
    return CompileSettings(
        loss=_name(training.get("loss")),
        optimizer=str(optimizer.get("class_name")) if isinstance(optimizer, Mapping) else None,
        learning_rate=float(rate) if isinstance(rate, int | float) else None,
        metrics=tuple(_names(training.get("metrics"))),
    )


def _names(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [name for item in value for name in _names(item)]
    return [] if value is None else [_name(value)]


def _name(value: Any) -> Any:
    """The short name of a serialized loss or metric."""
    if isinstance(value, Mapping) and "class_name" in value:
        config = value.get("config")
        return (
            config["name"]
            if isinstance(config, Mapping) and isinstance(config.get("name"), str)
            else value["class_name"]
        )
    return value
