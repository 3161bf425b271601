"""Statistics of every weight tensor of a model, as it was uploaded."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WeightProfile:
    """One weight tensor. Statistics are over finite values."""

    layer: str
    """The layer's path."""
    name: str
    """"kernel", "bias", "gamma", "moving_variance", …"""
    shape: tuple[int, ...]
    dtype: str
    trainable: bool
    mean: float
    std: float
    minimum: float
    maximum: float
    zero_fraction: float
    nonfinite: int
    distinct: int
    """Number of different values, at most 3 are counted: 1 means constant."""
    fan_in: int | None = None
    fan_out: int | None = None
    dead_columns: int = 0
    """Output units whose incoming weights are all zero."""
    identical_columns: int = 0
    """Output units whose incoming weights equal those of an earlier unit (symmetry never broken)."""


@dataclass(frozen=True)
class WeightEvidence:
    """All weights. `trained` is whether they look trained, None when that cannot be told."""

    tensors: tuple[WeightProfile, ...]
    trained: bool | None = None
    trained_because: str = ""

    def of(self, layer: str) -> tuple[WeightProfile, ...]:
        """The tensors of one layer."""
        return tuple(tensor for tensor in self.tensors if tensor.layer == layer)
