"""The TFLite schema: names of operators and types, and operator options as JSON values.

The generated schema that ships with ai-edge-litert is loaded by its path: importing the package loads its native runtime.
"""

from __future__ import annotations

import functools
import importlib.util
import struct
from pathlib import Path
from types import ModuleType
from typing import Any

from stethoscope.models.containers.flatbuffer import Table

TYPE_BITS = {
    **dict.fromkeys(("float32", "int32", "uint32"), 32),
    **dict.fromkeys(("float16", "int16", "uint16", "bfloat16"), 16),
    **dict.fromkeys(("uint8", "bool", "int8", "float8_e4m3fn", "float8_e5m2"), 8),
    **dict.fromkeys(("int64", "complex64", "float64", "uint64"), 64),
    "complex128": 128,
    **dict.fromkeys(("int4", "uint4"), 4),
    "int2": 2,
}
"""Bits per element by dtype; "string", "resource" and "variant" have none."""
_MAX_LIST = 64
_ENUMS = {
    "padding": "Padding",
    "fusedActivationFunction": "ActivationFunctionType",
    "inDataType": "TensorType",
    "outDataType": "TensorType",
    "weightsFormat": "FullyConnectedOptionsWeightsFormat",
    "kernelType": "LSTMKernelType",
    "mode": "MirrorPadMode",
    "combiner": "CombinerType",
}


@functools.cache
def schema() -> ModuleType:
    """The generated schema module, loaded without importing ai_edge_litert (pure Python, about 20 ms)."""
    package = importlib.util.find_spec("ai_edge_litert")
    assert package is not None and package.origin is not None, "ai-edge-litert is a dependency"
    path = Path(package.origin).with_name("schema_py_generated.py")
    spec = importlib.util.spec_from_file_location("stethoscope._tflite_generated", path)
    assert spec is not None and spec.loader is not None, "the schema is a source file"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def _names(enum: str) -> dict[int, str]:
    members = vars(getattr(schema(), enum))
    return {value: name for name, value in members.items() if isinstance(value, int) and not name.startswith("_")}


def operator_name(code: int) -> str:
    """Returns the name of a built-in operator code, or "BUILTIN_n" for one newer than the schema."""
    return _names("BuiltinOperator").get(code, f"BUILTIN_{code}")


def dtype_name(code: int) -> str:
    """Returns the dtype of a TensorType code, as numpy names it where numpy has it; "type n" for an unknown one."""
    name = _names("TensorType").get(code)
    return name.lower() if name else f"type {code}"


def options(table: Table, slot_type: int, slot: int, enum: str) -> dict[str, Any]:
    """Returns an operator's options as JSON values; {} when it has none, or they are newer than the schema.

    Args:
        table: the Operator table.
        slot_type: the slot of the union's type.
        slot: the slot of the union itself.
        enum: "BuiltinOptions" or "BuiltinOptions2".
    """
    name = _names(enum).get(table.scalar(slot_type, "B"), "NONE")
    value = table.table(slot) if table.at(slot) else None
    if value is None or name == "NONE":
        return {}
    try:
        decoded = vars(getattr(schema(), f"{name}T").InitFromBuf(value.buffer.view, value.position))
    except (struct.error, ValueError, TypeError, IndexError, OverflowError, UnicodeDecodeError):
        return {"options": "damaged"}
    return {key: shown for key, item in decoded.items() if (shown := _shown(key, item)) is not None}


def _shown(key: str, value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")[:200]
    if isinstance(value, bool | float | str):
        return value
    if isinstance(value, int):
        return _names(_ENUMS[key]).get(value, value) if key in _ENUMS else value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list) and len(value) <= _MAX_LIST and all(isinstance(item, int | float) for item in value):
        return value
    return None
