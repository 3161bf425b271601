"""Between typed values and JSON: what workers send to their parent, and the shapes of the command line."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from stethoscope.errors import StethoscopeError
from stethoscope.findings import Severity
from stethoscope.fixes.fix import Fix
from stethoscope.types import Architecture, CompileSettings, Hazard, JobResult, Layer, Operand, Shape, TensorSpec

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA_VERSION = 1
T = TypeVar("T")


def answer_of(result: JobResult, kind: type[T]) -> T:
    """What a job answered, as its task's type.

    Raises:
        StethoscopeError: the answer does not have that shape, or there is none.
    """
    return decode(kind, result.value)


def partial_of(result: JobResult, kind: type[T]) -> T | None:
    """What a job that did not come to its end had found by then; None where that is not enough for its type."""
    return fitting(kind, result.value)


def fitting(kind: type[T], value: Any) -> T | None:
    """`decode` of what may have another shape; None where it has."""
    try:
        return decode(kind, value)
    except StethoscopeError:
        return None


def decode(kind: type[T], value: Any) -> T:
    """Returns JSON as the frozen dataclass it was made from; text such as "nan" becomes the number it names.

    A worker may have run a hostile model: everything is validated by type.

    Raises:
        StethoscopeError: `value` does not have that shape.
    """
    from pydantic import ValidationError

    try:
        decoded: T = _adapter(cast(Hashable, kind)).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise StethoscopeError(
            f"The worker's answer: expected {kind.__name__}, got {first['msg']} at {place}."
        ) from error
    return decoded


@functools.cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(cast(type[Any], kind))


def plain(value: Any, depth: int = 0) -> Any:
    """Returns `value` as strict JSON: dataclasses become objects, NaN and infinities their names, unknown objects text.

    A severity is written by its label, a fix with its summary and code.
    """
    if depth > 50:
        return "…"
    if isinstance(value, Severity):
        return value.label
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, Fix):
        return plain(value.to_json(), depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name), depth + 1) for field in dataclasses.fields(value)}
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
