"""One tensor of a file, as it is told: shape, statistics, how its values are spread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from stethoscope.models.model_format import StoredWeight
from stethoscope.models.weights.weight_statistics import statistics


@dataclass(frozen=True)
class Histogram:
    """How values are spread: one edge more than counts."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class LayerTensor:
    """One tensor of a layer; no statistics where it cannot be read."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    trainable: bool | None
    """None where the file does not say."""
    count: int
    quantisation: Mapping[str, Any] | None
    """How it is stored, as the file says it; None where it is stored as it is."""
    unreadable: str
    """Why there are no statistics; "" where there are."""
    mean: float | None = None
    std: float | None = None
    min: float | None = None
    max: float | None = None
    zero_fraction: float | None = None
    nonfinite: int | None = None
    norm: float | None = None
    """Euclidean."""
    histogram: Histogram | None = None


def summarised(weight: StoredWeight) -> LayerTensor:
    """Reads its values; the tensor without statistics where they cannot be read."""
    tensor = LayerTensor(
        name=weight.name,
        shape=tuple(weight.shape),
        dtype=weight.dtype,
        trainable=weight.trainable,
        count=weight.count,
        quantisation=weight.quantisation or None,
        unreadable=weight.unreadable,
    )
    if weight.unreadable:
        return tensor
    found = statistics(weight.pieces)
    return replace(
        tensor,
        count=found.count,
        mean=found.mean,
        std=found.std,
        min=found.min,
        max=found.max,
        zero_fraction=found.zero_fraction,
        nonfinite=found.nonfinite,
        norm=found.norm,
        histogram=Histogram(found.edges, found.counts),
    )
