"""What every layer puts out on a batch of real data, or of random input when there is none."""

from __future__ import annotations

from dataclasses import dataclass, field


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
