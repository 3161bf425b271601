"""Between the nouns and JSON: the shapes of the command line, and what workers send to their parent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from stethoscope.types import Architecture, CompileSettings, Hazard, Layer, Operand, Shape, TensorSpec

SCHEMA_VERSION = 1


def plain(value: Any, depth: int = 0) -> Any:
    """Returns `value` as strict JSON: NaN and infinities become their names, tuples lists, unknown objects text."""
    if depth > 50:
        return "…"
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth + 1) for item in value]
    return str(value)


def spec_to_json(spec: TensorSpec) -> dict[str, Any]:
    """A `TensorSpec` as {"name", "shape", "dtype"}; null for a dynamic dimension, or for a shape of unknown rank."""
    return {"name": spec.name, "shape": None if spec.shape is None else list(spec.shape), "dtype": spec.dtype}


def spec_from_json(value: Mapping[str, Any]) -> TensorSpec:
    """The inverse of `spec_to_json`."""
    return TensorSpec(str(value["name"]), _shape(value["shape"]), str(value["dtype"]))


def architecture_to_json(architecture: Architecture, size_bytes: int) -> dict[str, Any]:
    """The `describe` shape of the command line."""
    compiled = architecture.compile
    return {
        "schema_version": SCHEMA_VERSION,
        "format_id": architecture.format_id,
        "format": architecture.display_format,
        "framework_version": architecture.framework_version,
        "size_bytes": size_bytes,
        "weight_bytes": architecture.weight_bytes,
        "parameters": {"total": architecture.parameters, "trainable": architecture.trainable_parameters},
        "inputs": [spec_to_json(spec) for spec in architecture.inputs],
        "outputs": [spec_to_json(spec) for spec in architecture.outputs],
        "layers": [
            {
                "path": layer.path,
                "type": layer.type,
                "output_shape": None if layer.output_shape is None else list(layer.output_shape),
                "parameters": layer.parameters,
                "trainable_parameters": layer.trainable_parameters,
                "dtype": layer.dtype,
                "inputs": list(layer.inputs),
                "config": plain(layer.config),
                "operands": [[item.path, None if item.shape is None else list(item.shape)] for item in layer.operands],
                "calls": layer.calls,
            }
            for layer in architecture.layers
        ],
        "compile": None
        if compiled is None
        else {
            "loss": plain(compiled.loss),
            "optimizer": compiled.optimizer,
            "learning_rate": plain(compiled.learning_rate),
            "metrics": plain(compiled.metrics),
            "details": plain(compiled.details),
        },
        "warnings": list(architecture.warnings),
        "hazards": [{"rule": h.rule, "where": h.where, "message": h.message} for h in architecture.hazards],
        "runnable": architecture.runnable,
        "output_layers": list(architecture.output_layers),
    }


def architecture_from_json(value: Mapping[str, Any]) -> Architecture:
    """The inverse of `architecture_to_json`.

    Raises:
        KeyError, TypeError, ValueError: `value` does not have that shape.
    """
    compiled = value["compile"]
    return Architecture(
        format_id=str(value["format_id"]),
        display_format=str(value["format"]),
        framework_version=str(value["framework_version"]),
        weight_bytes=int(value["weight_bytes"]),
        parameters=int(value["parameters"]["total"]),
        trainable_parameters=None
        if value["parameters"]["trainable"] is None
        else int(value["parameters"]["trainable"]),
        inputs=tuple(spec_from_json(spec) for spec in value["inputs"]),
        outputs=tuple(spec_from_json(spec) for spec in value["outputs"]),
        layers=tuple(
            Layer(
                path=str(layer["path"]),
                type=str(layer["type"]),
                output_shape=_shape(layer["output_shape"]),
                parameters=int(layer["parameters"]),
                trainable_parameters=int(layer["trainable_parameters"]),
                dtype=str(layer["dtype"]),
                inputs=tuple(str(name) for name in layer["inputs"]),
                config=dict(layer["config"]),
                operands=tuple(Operand(str(path), _shape(shape)) for path, shape in layer.get("operands", ())),
                calls=int(layer.get("calls", 1)),
            )
            for layer in value["layers"]
        ),
        compile=None
        if compiled is None
        else CompileSettings(
            compiled["loss"],
            compiled["optimizer"],
            compiled["learning_rate"],
            tuple(compiled["metrics"]),
            dict(compiled["details"]),
        ),
        warnings=tuple(str(warning) for warning in value["warnings"]),
        hazards=tuple(Hazard(str(h["rule"]), str(h["where"]), str(h["message"])) for h in value["hazards"]),
        runnable=str(value["runnable"]),
        output_layers=tuple(str(path) for path in value["output_layers"]),
    )


def _shape(value: Any) -> Shape | None:
    return None if value is None else tuple(None if size is None else int(size) for size in value)
