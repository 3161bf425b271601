"""Can the model overfit a few samples? If it cannot, something blocks it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BlockedLayer:
    """A layer through which no learning passes."""

    path: str
    reason: str
    """"gradient is zero", "gradient vanishes", "all units are dead", "frozen", "output is constant", "saturated", "non-finite"."""
    value: float | None = None


@dataclass(frozen=True)
class OverfitEvidence:
    """A few samples trained on again and again, regularisation switched off where that is possible."""

    samples: int
    steps: int
    loss: tuple[float, ...]
    """The loss at `loss_steps`."""
    loss_steps: tuple[int, ...]
    initial_loss: float
    final_loss: float
    floor: float
    """The lowest loss these targets allow (entropy of soft labels; else 0)."""
    fitted_fraction: float
    """Share of the samples it gets right at the end (within 5 % of the spread for regression)."""
    verdict: str
    """"fits", "partly", "cannot", "diverges", "crashes"."""
    blocked: tuple[BlockedLayer, ...] = ()
    reason: str = ""
    learning_rate: float = 0.0
    """The rate that was used in the end: the model's own, or one that was found to work better."""
    own_learning_rate: float | None = None
    regularisation_off: tuple[str, ...] = ()
    source: str = "data"
    """"data", or "random input and labels" when no data was given."""
