"""What makes two layers alike: their kind in one word across formats, their size, settings, and who stands around them.

What differs between two layers that are matched: type, settings, shape, dtype, parameters, what they read.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from stethoscope.architecture.activations import plain_type
from stethoscope.architecture.layer_kinds import Kind, activation_of, kind_of
from stethoscope.codec import plain
from stethoscope.types import Architecture, Layer

_NOISE = frozenset(
    {
        "name",
        "weights",
        "outputs",
        "output_shapes",
        "version",
        "output_quantization",
        "build_config",
        "shared_object_id",
    }
)
_OWN_WORD = {Kind.ACTIVATION, Kind.MERGE, Kind.PRODUCT, Kind.RESHAPE, Kind.COPY, Kind.OTHER}
_ALIASES = {
    "addv2": "add",
    "biasadd": "add",
    "mul": "multiply",
    "sub": "subtract",
    "mean": "reducemean",
    "concatv2": "concatenate",
}
_ALIASES |= {
    "concat": "concatenate",
    "concatenation": "concatenate",
    "padv2": "pad",
    "squeeze": "reshape",
    "flatten": "reshape",
}
_LOOKUPS = ("gather", "gatherv2", "resourcegather", "embeddinglookup")
_ROUNDS = 3


def kind_word(layer: Layer) -> str:
    """One word for what a layer is, the same for Conv2D, CONV_2D and Conv."""
    kind = plain_type(layer.type)
    family = kind_of(layer.type, layer.parameters)
    if kind in _LOOKUPS and layer.parameters:
        return Kind.EMBEDDING.value
    if "global" in kind and family in (Kind.POOLING, Kind.AVERAGE):
        return "reducemax" if "max" in kind else "reducemean"
    if family is Kind.CONVOLUTION:
        return "depthwise" if "depthwise" in kind else "transposed" if "transpose" in kind else "convolution"
    if family is Kind.ACTIVATION:
        return activation_of(layer.type, family, layer.config) or "linear"
    if family in _OWN_WORD:
        return _ALIASES.get(kind, kind)
    if family is Kind.POOLING:
        return "max pooling"
    return family.value


def settings_of(layer: Layer) -> dict[str, Any]:
    """The settings that say what a layer does, flat: "kernel_initializer.class_name"; without names and bookkeeping."""
    found: dict[str, Any] = {}
    _flatten(plain(dict(layer.config)), "", found, 0)
    return found


def _flatten(value: Any, prefix: str, found: dict[str, Any], depth: int) -> None:
    if isinstance(value, Mapping) and depth < 6:
        for key, item in value.items():
            if key not in _NOISE:
                _flatten(item, f"{prefix}.{key}" if prefix else str(key), found, depth + 1)
    else:
        found[prefix] = value


def own_look(layer: Layer, *, across: bool) -> str:
    """A digest of one layer alone: kind, values per sample, parameters, and settings where both files speak one language."""
    shape = layer.output_shape or ()
    size = math.prod(item or 1 for item in shape[1:]) if shape else -1
    parts: list[Any] = [kind_word(layer), size, layer.parameters]
    if not across:
        parts = [layer.type, list(shape[1:]), layer.parameters, sorted(settings_of(layer).items(), key=str)]
    return _digest(parts)


def coarse_look(layer: Layer) -> str:
    """Kind and parameters only."""
    return _digest([kind_word(layer), layer.parameters])


def looks_around(architecture: Architecture, *, across: bool) -> dict[str, list[str]]:
    """For each layer its digests, the widest neighbourhood last: each round takes in what is read and what reads.

    Source: the colour refinement of Weisfeiler and Leman, 1968.
    """
    readers: dict[str, list[str]] = {}
    for layer in architecture.layers:
        for source in layer.inputs:
            readers.setdefault(source, []).append(layer.path)
    current = {layer.path: own_look(layer, across=across) for layer in architecture.layers}
    found = {path: [look] for path, look in current.items()}
    for _ in range(_ROUNDS):
        current = {
            layer.path: _digest(
                [
                    current[layer.path],
                    [current.get(path, "") for path in layer.inputs],
                    sorted(current[path] for path in readers.get(layer.path, ())),
                ]
            )
            for layer in architecture.layers
        }
        for path, look in current.items():
            found[path].append(look)
    return found


def is_given_name(layer: Layer) -> bool:
    """Whether somebody named this layer: Keras numbers the rest (dense_1), and the numbers shift when a layer is added."""
    last = layer.path.rsplit("/", 1)[-1]
    name = re.sub(r"_\d+$", "", last)
    spelled = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", layer.type).lower()
    return plain_type(name) != plain_type(layer.type) and name != spelled and not re.fullmatch(r"[a-z]*\d+|\d+", last)


def name_parts(path: str) -> Sequence[str]:
    """The names an operator's path may have taken from a layer: "model/conv1/Relu;model/conv1/Conv2D" holds "conv1"."""
    parts = [re.sub(r"(_\d+)?(__\d+)?$", "", part) for part in re.split(r"[/;]", path)]
    return list(dict.fromkeys([*re.split(r"[/;]", path), *parts]))


def _digest(value: Any) -> str:
    return hashlib.blake2b(json.dumps(value, default=str).encode(), digest_size=12).hexdigest()


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
