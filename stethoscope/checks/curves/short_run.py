"""What the short run shows: readings of the instruments that sat on each layer, and the words that checks by rule weigh their findings with.

What stands in the way when a network cannot even learn a few rows by heart: which fault, in which words.

What the short training run shows, in the words that checks by rule weigh their findings with.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from stethoscope.architecture.activations import SQUASHING
from stethoscope.checks.findings import Fault, Severity
from stethoscope.evidence import trials
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.evidence.training import LayerTraining, TrainingEvidence
from stethoscope.evidence.trials import OverfitEvidence

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
    trials.GRADIENT_ZERO: Fault.ACTIVATION,
    trials.GRADIENT_VANISHES: Fault.ACTIVATION,
    trials.DEAD: Fault.INITIALISATION,
    trials.FROZEN: Fault.ARCHITECTURE,
    trials.CONSTANT: Fault.ACTIVATION,
    trials.SATURATED: Fault.ACTIVATION,
    trials.NON_FINITE: Fault.NUMERICAL,
}


def blocked_fault(overfit: OverfitEvidence) -> Fault:
    """The fault that the blocking reason points at: the rate when it diverges, else the network's form."""
    if overfit.verdict == "diverges":
        return Fault.LEARNING_RATE
    layer = overfit.blocking
    return Fault.ARCHITECTURE if layer is None else _FAULTS.get(layer.reason, Fault.ARCHITECTURE)


_FORWARD = (trials.CONSTANT, trials.DEAD)
"""What a layer is where the input's influence ends."""


def where_blocked(overfit: OverfitEvidence | None, otherwise: str) -> str:
    """The layer at which the input's influence ends, as the overfit test saw it; else `otherwise`."""
    layer = None if overfit is None else overfit.blocking
    return layer.path if layer is not None and layer.reason in _FORWARD else otherwise


def what_blocks(overfit: OverfitEvidence | None) -> str:
    """A sentence on that layer, or that it is not known."""
    layer = None if overfit is None else overfit.blocking
    if layer is None or layer.reason not in _FORWARD:
        return "What keeps the input from the output is not known from this alone."
    return f"The input's influence ends at {layer.path}: {layer.reason}."


WELL = 0.9
"""Share of what is possible beyond chance: a program that reaches it works, whatever rule it breaks."""
NOTHING = 0.1


def learns_well(training: TrainingEvidence | None) -> bool:
    """Whether the program as it is reaches nearly all that is possible."""
    return training is not None and bool(training.base) and training.skill >= WELL


def learns_nothing(training: TrainingEvidence | None) -> bool:
    """Whether the program as it is ends no better than chance, or with NaN. A run that time cut short cannot tell."""
    if training is None or not training.base:
        return False
    return (training.complete and training.skill <= NOTHING) or any(
        run.stopped == "non-finite" for run in training.base
    )


def helped(training: TrainingEvidence | None, trial_id: str) -> bool:
    """Whether the trial was run and its change helped."""
    trial = None if training is None else training.trial(trial_id)
    return trial is not None and trial.helps


def weighed(training: TrainingEvidence | None, trial_id: str = "", usual: Severity = Severity.MEDIUM) -> Severity:
    """The severity of a defect by rule: `usual` without evidence of harm, HIGH when nothing is learned and undoing it
    (the trial) helps, LOW when the program works all the same.
    """
    if learns_well(training) and not helped(training, trial_id):
        return Severity.LOW
    if learns_nothing(training) and helped(training, trial_id):
        return max(usual, Severity.HIGH)
    return usual


def listed(names: Sequence[str], most: int = 3) -> str:
    """Some names in a sentence: "a, b and c", "a, b, c and 4 more"."""
    shown = list(names[:most])
    more = len(names) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
