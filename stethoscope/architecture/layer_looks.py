"""What makes two layers alike: their kind in one word across formats, their size, settings, and who stands around them."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from stethoscope.architecture.layer_kinds import Kind, activation_of, kind_of, plain_type
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
    "logistic": "sigmoid",
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
