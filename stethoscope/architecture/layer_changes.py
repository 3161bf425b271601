"""What differs between two layers that are matched: type, settings, shape, dtype, parameters, what they read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stethoscope.architecture.layer_looks import kind_word, settings_of
from stethoscope.types import Layer

What = Literal["type", "config", "shape", "dtype", "weights", "inputs"]
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Change:
    """One difference; `a` and `b` are JSON values, None for what one side does not have."""

    what: What
    field: str
    a: Any
    b: Any


def changes(a: Layer, b: Layer, partners: Mapping[str, str], *, across: bool) -> tuple[Change, ...]:
    """Compares two matched layers.

    Args:
        a: of the first model.
        b: of the second.
        partners: the second model's path for each matched path of the first.
        across: the files are of different kinds: settings, edges and the order of dimensions then mean different things, and
            only kind, sizes and parameters are compared.
    """
    found: list[Change] = []
    if (kind_word(a) != kind_word(b)) if across else (a.type != b.type):
        found.append(Change("type", "type", a.type, b.type))
    if not across:
        found.extend(_settings(a, b))
    if _shape_differs(a, b, across):
        found.append(Change("shape", "output_shape", _listed(a), _listed(b)))
    if a.dtype != b.dtype and a.dtype and b.dtype:
        found.append(Change("dtype", "dtype", a.dtype, b.dtype))
    if a.parameters != b.parameters:
        found.append(Change("shape", "parameters", a.parameters, b.parameters))
    if not across:
        read = [partners.get(path) for path in a.inputs]
        if read != list(b.inputs):
            found.append(Change("inputs", "inputs", list(a.inputs), list(b.inputs)))
    return tuple(found)


def _settings(a: Layer, b: Layer) -> list[Change]:
    left, right = settings_of(a), settings_of(b)
    found = []
    for key in dict.fromkeys([*left, *right]):
        one, other = left.get(key), right.get(key)
        if key.split(".")[0] in ("dtype", "batch_shape", "batch_input_shape") or _same(one, other):
            continue
        found.append(Change("config", key, one, other))
    return found


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= _TOLERANCE * max(abs(one), abs(other))
    return bool(one == other)


def _shape_differs(a: Layer, b: Layer, across: bool) -> bool:
    if a.output_shape is None or b.output_shape is None:
        return False
    if not across:
        return a.output_shape != b.output_shape
    # Channels first or last, and a batch that is open or fixed: the sizes themselves must be the same.
    known = [
        sorted(size for size in shape[1:] if size is not None and size != 1)
        for shape in (a.output_shape, b.output_shape)
    ]
    open_sizes = None in a.output_shape[1:] or None in b.output_shape[1:]
    return not open_sizes and known[0] != known[1]


def _listed(layer: Layer) -> list[int | None] | None:
    return None if layer.output_shape is None else list(layer.output_shape)
