"""What a model shows by itself: its weights, its layers' output, its behaviour when it is run again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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


@dataclass(frozen=True)
class LayerActivation:
    """One layer's output over a batch. Fractions are of values unless they say units; statistics over finite values."""

    path: str
    type: str
    activation: str
    """"relu", "tanh", … as configured; "linear" without one."""
    shape: tuple[int, ...]
    mean: float
    std: float
    minimum: float
    maximum: float
    zero_fraction: float
    nonfinite: int
    dead_units_fraction: float | None = None
    """Units (channels) that are zero for every row and position; only for layers whose activation can die."""
    saturated_fraction: float | None = None
    """Values at the flat ends of tanh, sigmoid, hard variants or softmax."""
    constant_units_fraction: float | None = None
    """Units whose output is the same for every row."""
    row_std: float | None = None
    """Mean over units of the standard deviation over rows: 0 when the output does not depend on the input."""


@dataclass(frozen=True)
class OutputSummary:
    """What the model predicts on the batch."""

    name: str
    shape: tuple[int, ...]
    minimum: float
    maximum: float
    mean: float
    std: float
    row_std: float
    nonfinite: int
    row_sum_minimum: float | None = None
    row_sum_maximum: float | None = None
    predicted_class_counts: tuple[int, ...] = ()
    """argmax over the last axis, for outputs of 2 to 1,000 units."""


@dataclass(frozen=True)
class ActivationEvidence:
    """One inference pass, streamed: statistics are kept, tensors are not."""

    source: str
    """"data" or "random input"."""
    rows: int
    layers: tuple[LayerActivation, ...]
    outputs: tuple[OutputSummary, ...] = field(default=())
    first_nonfinite: str = ""
    """The path of the first layer with NaN or infinity."""
    unreachable: str = ""
    """Why inner layers could not be seen, when only outputs were."""


@dataclass(frozen=True)
class BehaviourTest:
    """One test. `passed` is None when it does not apply."""

    id: str
    name: str
    passed: bool | None
    detail: str
    max_abs_diff: float | None = None
    layer: str = ""
    reason: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What was measured, as the test's own JSON: "batch_normalisation", "read_as", "crashed" …"""
    noted: bool = False
    """With `passed` None: it showed something worth knowing that is no defect in itself."""


@dataclass(frozen=True)
class BehaviourEvidence:
    """All tests that were run."""

    consistent: bool
    tests: tuple[BehaviourTest, ...]
    source: str = ""
    """"data" or "random input"."""

    def test(self, test_id: str) -> BehaviourTest | None:
        """The test with this id, if it was run."""
        return next((test for test in self.tests if test.id == test_id), None)
