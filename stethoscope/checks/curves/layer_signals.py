"""Readings of the instruments that sat on each layer during the short run: how gradients pass, whether weights move.

What stands in the way when a network cannot even learn a few rows by heart: which fault, in which words.
"""

from __future__ import annotations

import math
import statistics

from stethoscope.architecture.activations import SQUASHING
from stethoscope.checks.findings import Fault
from stethoscope.evidence import blocking
from stethoscope.evidence.baseline import OverfitEvidence
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.evidence.training import LayerTraining, TrainingEvidence

_NO_KERNEL = (
    "Embedding",
    "BatchNormalization",
    "LayerNormalization",
    "GroupNormalization",
    "UnitNormalization",
    "PReLU",
)
"""Layers whose gradients are of another size by nature: few rows of an embedding are touched, scales are not kernels."""
_RECURRENT = ("LSTM", "GRU", "SimpleRNN", "ConvLSTM", "RNN", "Bidirectional")


def kernel_layers(training: TrainingEvidence) -> list[LayerTraining]:
    """Trainable layers with kernels and gradients, in the model's order."""
    return [
        layer
        for layer in training.layers
        if layer.trainable and layer.parameters and layer.gradient_norm and layer.type not in _NO_KERNEL
    ]


def median_update(layer: LayerTraining) -> float | None:
    """Median update ratio of a layer over the samples after the first; None when it has none."""
    known = [value for value in layer.update_ratio if math.isfinite(value)]
    return statistics.median(known) if known else None


def growth(layer: LayerTraining) -> float:
    """Largest later gradient over the first finite ones (median of three); 0 when it cannot be told.

    NaN is left out: a gradient that is NaN from one step to the next has not grown.
    """
    known = [value for value in layer.gradient_norm if math.isfinite(value)]
    if len(known) < 2:
        return 0.0
    first = statistics.median(known[: min(3, len(known) - 1)])
    return max(known[1:]) / first if first > 0 else 0.0


def squashing_hidden(evidence: EvidenceSet) -> tuple[LayerTraining, ...]:
    """Hidden, not recurrent layers with a sigmoid-like activation."""
    if evidence.training is None:
        return ()
    ends = {path for head in evidence.heads for path in (head.layer, head.units_layer)}
    if not ends and evidence.training.layers:
        ends = {evidence.training.layers[-1].path}
    return tuple(
        layer
        for layer in evidence.training.layers
        if layer.activation in SQUASHING and layer.path not in ends and not layer.type.startswith(_RECURRENT)
    )


_FAULTS = {
    blocking.GRADIENT_ZERO: Fault.ACTIVATION,
    blocking.GRADIENT_VANISHES: Fault.ACTIVATION,
    blocking.DEAD: Fault.INITIALISATION,
    blocking.FROZEN: Fault.ARCHITECTURE,
    blocking.CONSTANT: Fault.ACTIVATION,
    blocking.SATURATED: Fault.ACTIVATION,
    blocking.NON_FINITE: Fault.NUMERICAL,
}


def blocked_fault(overfit: OverfitEvidence) -> Fault:
    """The fault that the blocking reason points at: the rate when it diverges, else the network's form."""
    if overfit.verdict == "diverges":
        return Fault.LEARNING_RATE
    layer = overfit.blocking
    return Fault.ARCHITECTURE if layer is None else _FAULTS.get(layer.reason, Fault.ARCHITECTURE)
