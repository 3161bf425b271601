"""What a model's input is to people: a picture, columns of a table, tokens, or numbers over time."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy.typing as npt

from stethoscope.activations.attributions.method import InputKind
from stethoscope.types import Architecture, Layer

_CHANNELS = (1, 2, 3, 4)
_LOOKUPS = ("Embedding", "Gather", "GatherV2", "ResourceGather", "EMBEDDING_LOOKUP", "GATHER", "GatherElements")
_OVER_TIME = ("LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional", "Conv1D", "SeparableConv1D", "TimeDistributed")
_PASSING = (
    "InputLayer",
    "Input",
    "Cast",
    "Identity",
    "Reshape",
    "ExpandDims",
    "Squeeze",
    "CAST",
    "Masking",
    "Flatten",
    "ReadVariableOp",
    "Placeholder",
    "RESHAPE",
    "Unsqueeze",
    "PartitionedCall",
    "StatefulPartitionedCall",
)


def kind_of(name: str, row: npt.NDArray[Any], architecture: Architecture) -> tuple[InputKind, int | None]:
    """What the input `name` is, and which axis of one row holds its channels.

    Args:
        name: of the input.
        row: (1, …), as it is fed.
        architecture: tells what reads it.
    """
    shape = row.shape[1:]
    if len(shape) == 3:
        if shape[-1] in _CHANNELS or shape[0] not in _CHANNELS:
            return "image", 2
        return "image", 0
    readers = _readers(name, architecture)
    looked_up = any(layer.type.rsplit(".", 1)[-1] in _LOOKUPS for layer in readers)
    if len(shape) == 1:
        whole = row.dtype.kind in "iu"
        if (looked_up and (whole or _whole_valued(row))) or (whole and _any_lookup(architecture)):
            return "tokens", None
        return "features", None
    if len(shape) == 2:
        over_time = any(layer.type.rsplit(".", 1)[-1].startswith(_OVER_TIME) for layer in architecture.layers)
        if not over_time and min(shape) >= 8:
            return "image", None
        return "sequence", 1
    return "features", None


def lookup_of(name: str, architecture: Architecture) -> list[str]:
    """Paths of the operators that look this input up in a table of numbers, as it is or after a cast or reshape."""
    return [layer.path for layer in _readers(name, architecture) if layer.type.rsplit(".", 1)[-1] in _LOOKUPS]


def _readers(name: str, architecture: Architecture) -> list[Layer]:
    """What reads an input, first without anything between that changes its values."""
    by_source: dict[str, list[Layer]] = {}
    for layer in architecture.layers:
        for source in layer.inputs:
            by_source.setdefault(source, []).append(layer)
    starts = [layer for layer in architecture.layers if layer.path == name]
    if not starts and not by_source.get(name) and len(architecture.inputs) == 1:
        starts = [layer for layer in architecture.layers if not layer.inputs][:1]
    queue, seen, found = deque([*starts, *by_source.get(name, [])]), set(), []
    while queue:
        layer = queue.popleft()
        if layer.path in seen:
            continue
        seen.add(layer.path)
        found.append(layer)
        if layer.type.rsplit(".", 1)[-1] in _PASSING:
            queue.extend(by_source.get(layer.path, []))
    return found


def _any_lookup(architecture: Architecture) -> bool:
    return any(layer.type.rsplit(".", 1)[-1] in _LOOKUPS for layer in architecture.layers)


def _whole_valued(row: npt.NDArray[Any]) -> bool:
    return bool((row == row.round()).all())
