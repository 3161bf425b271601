"""How exactly a model computes, and how far two models of given precisions may lie apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

Precision = Literal["float64", "float32", "float16", "bfloat16", "float16 weights", "int8 weights", "int16", "int8"]
_ORDER: tuple[Precision, ...] = (
    "float64", "float32", "float16 weights", "float16", "bfloat16", "int16", "int8 weights", "int8",
)  # fmt: skip


@dataclass(frozen=True)
class Tolerance:
    """What is within tolerance.

    Source: units roundoff 2^-24, 2^-11, 2^-8 and steps of 1/255 of a tensor's range, times what some dozens of layers make of them
    (measured on exports of keras.applications and the samples; see docs/parity-accuracy.md).
    """

    precision: Precision
    nrmse: float
    """The root mean square difference as a share of the output's."""
    top1: float | None
    """The share of rows that must have the same class; None where the difference alone decides."""
    floor: float
    """What the order of summation alone makes of a single layer."""


_TOLERANCES: dict[Precision, Tolerance] = {
    "float64": Tolerance("float64", 1e-9, None, 1e-11),
    "float32": Tolerance("float32", 3e-5, None, 5e-6),
    "float16 weights": Tolerance("float16 weights", 1e-2, 0.98, 2e-3),
    "float16": Tolerance("float16", 2e-2, 0.95, 5e-3),
    "bfloat16": Tolerance("bfloat16", 8e-2, 0.9, 3e-2),
    "int16": Tolerance("int16", 8e-2, 0.9, 3e-2),
    "int8 weights": Tolerance("int8 weights", 0.15, 0.85, 4e-2),
    "int8": Tolerance("int8", 0.3, 0.8, 4e-2),
}


def precision_of(architecture: Architecture) -> Precision:
    """The coarsest precision in which a model computes."""
    kinds = [str(layer.dtype).lower() for layer in architecture.layers if layer.dtype]
    policies = [str(layer.config.get("dtype", "")).lower() for layer in architecture.layers]
    found: Precision = "float32"
    if any("bfloat16" in one for one in (*kinds, *policies)):
        found = "bfloat16"
    elif any("float16" in one for one in (*kinds, *policies)):
        found = "float16"
    elif kinds and all(one in ("float64", "int64", "int32", "bool") for one in kinds) and "float64" in kinds:
        found = "float64"
    if format_of(architecture).runtime == "tensorflow":
        return found
    return max((found, _stored(architecture)), key=_ORDER.index)


def tolerance(first: Precision, second: Precision) -> Tolerance:
    """Of two precisions, the wider."""
    return _TOLERANCES[max((first, second), key=_ORDER.index)]


def _stored(architecture: Architecture) -> Precision:
    """By what quantised tensors are there."""
    quantised = [
        layer for layer in architecture.layers if _is_integer(layer.config.get("output_quantization"), layer.dtype)
    ]
    if any(layer.dtype == "int16" for layer in quantised):
        return "int16"
    if len(quantised) >= max(2, len(architecture.layers) // 4):
        return "int8"
    kinds = {layer.type.upper() for layer in architecture.layers}
    if kinds & {
        "QUANTIZELINEAR",
        "QLINEARCONV",
        "QLINEARMATMUL",
        "MATMULINTEGER",
        "CONVINTEGER",
    }:
        return "int8"
    stored = architecture.weight_bytes / max(1, architecture.parameters)
    if format_of(architecture).packs_weights and architecture.parameters > 256:
        if stored < 1.6:
            return "int8 weights"
        if stored < 3:
            return "float16 weights"
    return "float32"


def _is_integer(said: object, dtype: str) -> bool:
    return isinstance(said, dict) and dtype in ("int8", "uint8", "int16")
