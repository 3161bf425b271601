"""The ways in which one model can be run beside itself: as text on the command line, and as people say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stethoscope.compare.parity.precision import Precision, precision_of
from stethoscope.errors import BadSetting
from stethoscope.memory.call_styles import TITLES
from stethoscope.memory.run_settings import CALLS, DEVICES, PRECISIONS, RunSettings
from stethoscope.types import Architecture

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
