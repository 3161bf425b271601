"""How exactly a model computes, and how far two models of given precisions may lie apart.

The ways in which one model can be run beside itself: as text on the command line, and as people say it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from stethoscope.errors import BadSetting
from stethoscope.memory.call_styles import TITLES
from stethoscope.memory.run_settings import CALLS, DEVICES, PRECISIONS, RunSettings
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

Precision = Literal["float64", "float32", "float16", "bfloat16", "float16 weights", "int8 weights", "int16", "int8"]


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
_ORDER = tuple(_TOLERANCES)


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
    if kinds & {"QUANTIZELINEAR", "QLINEARCONV", "QLINEARMATMUL", "MATMULINTEGER", "CONVINTEGER"}:
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


_NAMES = ("call", "precision", "device", "threads", "xla")
_COMPUTES: Mapping[str, Precision] = {
    "float32": "float32",
    "mixed_float16": "float16",
    "float16": "float16",
    "mixed_bfloat16": "bfloat16",
    "bfloat16": "bfloat16",
}


@dataclass(frozen=True)
class Way:
    """How a model is run."""

    settings: RunSettings = field(default_factory=RunSettings)
    said: tuple[str, ...] = ()
    """What is not as usual, in sentences."""

    def computes(self, architecture: Architecture) -> Precision:
        """The precision in which a model computes when it is run in this way."""
        return _COMPUTES.get(self.settings.precision) or precision_of(architecture)


def parse_way(text: str) -> RunSettings:
    """Settings from text like "call=predict,threads=1".

    Raises:
        BadSetting: an unknown name, or a value that makes no sense.
    """
    found: dict[str, Any] = {}
    for part in (one.strip() for one in text.split(",") if one.strip()):
        name, equals, value = (one.strip() for one in part.partition("="))
        if not equals or name not in _NAMES:
            raise BadSetting(
                f"Way {part!r}: expected name=value with one of {', '.join(_NAMES)}, for example call=predict,threads=1."
            )
        if name == "threads":
            if not value.isdecimal() or not 1 <= int(value) <= 4096:
                raise BadSetting(f"Way {part!r}: expected a number of threads from 1.")
            found["intra_threads"] = int(value)
        elif name == "xla":
            if value not in ("true", "false"):
                raise BadSetting(f"Way {part!r}: expected true or false.")
            found["xla"] = value == "true"
        else:
            found[name] = value
    if not found:
        raise BadSetting(f"Way {text!r}: expected name=value, for example call=predict.")
    return RunSettings.from_json(found)


def said(settings: RunSettings) -> str:
    """What is not as usual, in a few words; "as usual" where nothing is."""
    usual, parts = RunSettings(), []
    if settings.call != usual.call:
        parts.append(TITLES[settings.call])
    if settings.xla:
        parts.append("XLA")
    if settings.precision != usual.precision:
        parts.append(settings.precision)
    if settings.device != usual.device:
        parts.append(f"on the {settings.device.upper()}")
    if settings.intra_threads is not None:
        parts.append(f"{settings.intra_threads} thread" + ("s" if settings.intra_threads > 1 else ""))
    return ", ".join(parts) or "as usual"


def as_text(settings: RunSettings) -> str:
    """The inverse of `parse_way`."""
    usual = RunSettings()
    told = {"call": "call", "precision": "precision", "device": "device", "intra_threads": "threads"}
    parts = [
        f"{name}={getattr(settings, field)}"
        for field, name in told.items()
        if getattr(settings, field) != getattr(usual, field)
    ]
    return ",".join([*parts, *(["xla=true"] if settings.xla else [])])


OFFERED: Mapping[str, RunSettings] = {
    **{f"call-{one.replace('_', '-')}": RunSettings(call=one) for one in CALLS if one != RunSettings().call},
    **{
        f"precision-{one.replace('_', '-')}": RunSettings(precision=one)
        for one in PRECISIONS
        if one not in ("as saved", "float32")
    },
    **{f"device-{one}": RunSettings(device=one) for one in DEVICES if one != "auto"},
    "threads-1": RunSettings(intra_threads=1),
}
"""Ways to choose from, by an id that can be part of an address."""
