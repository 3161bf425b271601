"""What stands in the way when a network cannot even learn a few rows by heart: which fault, in which words."""

from __future__ import annotations

from stethoscope.checks.judging.findings import Fault
from stethoscope.evidence.overfit import BlockedLayer, OverfitEvidence

_FAULTS = {
    "gradient is zero": Fault.ACTIVATION,
    "gradient vanishes": Fault.ACTIVATION,
    "all units are dead": Fault.INITIALISATION,
    "frozen": Fault.ARCHITECTURE,
    "output is constant": Fault.ACTIVATION,
    "saturated": Fault.ACTIVATION,
    "non-finite": Fault.NUMERICAL,
}


def blocking_layer(overfit: OverfitEvidence) -> BlockedLayer | None:
    """The layer that blocks: the last one in the model's order, because nothing before it can learn."""
    return overfit.blocked[-1] if overfit.blocked else None


def blocked_fault(overfit: OverfitEvidence) -> Fault:
    """The fault that the blocking reason points at: the rate when it diverges, else the network's form."""
    if overfit.verdict == "diverges":
        return Fault.LEARNING_RATE
    layer = blocking_layer(overfit)
    return Fault.ARCHITECTURE if layer is None else _FAULTS.get(layer.reason, Fault.ARCHITECTURE)
