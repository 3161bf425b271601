"""Batch normalisation that does not normalise.

Why: batch normalisation uses the batch's statistics while training and remembered ones later. Frozen before it has
remembered any, it divides by 1 and does nothing; with a momentum of 1 it never remembers, and a trained network meets
values in use that it never saw while training.
Example: `BatchNormalization(trainable=False)` between layers that train from scratch; `momentum=1.0`.
Fix: let it train; momentum 0.9 to 0.99.
Limits: frozen with statistics from earlier training is how fine-tuning is done, and silent here.
Source: Ioffe and Szegedy (2015), section 3.1; Keras guide “Transfer learning and fine-tuning” on BatchNormalization.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import LITTLE_LEARNED, Check
from stethoscope.checks.curves.short_run import helped, learns_nothing, learns_well, listed
from stethoscope.checks.findings import Fault, Finding, Number, Severity, Table
from stethoscope.checks.fixes.layer_settings import Unfreeze
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import is_trainable
from stethoscope.types import Layer


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    architecture, weights = evidence.architecture, evidence.weights
    if architecture is None or weights is None:
        return
    layers = [layer for layer in architecture.layers if layer.type == "BatchNormalization"]
    frozen = [
        layer
        for layer in layers
        if not is_trainable(layer) and _untouched(evidence, layer) and _learner_beside(evidence, layer)
    ]
    compiled = architecture.compile is not None or evidence.fit is not None
    if frozen and compiled:
        yield _frozen(evidence, frozen)
    stuck = [layer for layer in layers if _momentum(layer) >= 1 and is_trainable(layer)]
    if stuck:
        yield _stuck(evidence, stuck)
    elif weights.trained and not frozen:
        # Trained, and not one of them remembers anything: they were run in inference mode, or updates were not saved.
        bare = [layer for layer in layers if is_trainable(layer) and _untouched(evidence, layer)]
        moved = any(
            tensor.name == "gamma" and tensor.distinct > 1 for layer in bare for tensor in weights.of(layer.path)
        )
        if bare and len(bare) == len(layers) and moved:
            yield _never_updated(bare)


def _untouched(evidence: EvidenceSet, layer: Layer) -> bool:
    """Whether the remembered mean is all 0 and the remembered variance all 1."""
    tensors = {tensor.name: tensor for tensor in evidence.weights.of(layer.path)} if evidence.weights else {}
    mean, variance = tensors.get("moving_mean"), tensors.get("moving_variance")
    if mean is None or variance is None:
        return False
    return mean.distinct == 1 and mean.mean == 0 and variance.distinct == 1 and variance.mean == 1


def _learner_beside(evidence: EvidenceSet, layer: Layer) -> bool:
    """Whether the next layer with weights, before or behind, is one that learns: else it is part of a frozen base."""
    graph = evidence.connections
    for step in (graph.before, graph.after):
        other = step(layer.path)
        while other is not None and other.parameters == 0:
            other = step(other.path)
        if other is not None and is_trainable(other):
            return True
    return False


def _momentum(layer: Layer) -> float:
    value = layer.config.get("momentum", 0.99)
    return float(value) if isinstance(value, int | float) else 0.99


def _frozen(evidence: EvidenceSet, layers: list[Layer]) -> Finding:
    paths = [layer.path for layer in layers]
    severity = Severity.LOW if learns_well(evidence.training) else Severity.MEDIUM
    if learns_nothing(evidence.training) and helped(evidence.training, "unfrozen"):
        severity = Severity.HIGH
    return Finding(
        fault=Fault.ARCHITECTURE,
        severity=severity,
        confidence=0.8,
        where=paths[0],
        message=(
            f"{listed(paths)} {'are' if len(paths) > 1 else 'is'} frozen (trainable=False) before anything was remembered: mean "
            "0 and variance 1, so nothing is normalised while the layers around learn. Let it train."
        ),
        evidence=(_statistics(layers),),
        fix=Unfreeze(layers=tuple(paths)),
    )


def _stuck(evidence: EvidenceSet, layers: list[Layer]) -> Finding:
    paths = [layer.path for layer in layers]
    trained = evidence.weights is not None and evidence.weights.trained is True
    return Finding(
        fault=Fault.ARCHITECTURE,
        severity=Severity.HIGH if trained or evidence.architecture.compile else Severity.MEDIUM,  # type: ignore[union-attr]
        confidence=0.9,
        where=paths[0],
        message=(
            f"{listed(paths)}: a momentum of {_momentum(layers[0]):g} keeps the first statistics for ever (mean 0, variance 1), "
            "so in use the layer does not do what it did while training. Use 0.99."
        ),
        evidence=(Number("momentum", _momentum(layers[0]), threshold=1.0),),
    )


def _never_updated(layers: list[Layer]) -> Finding:
    paths = [layer.path for layer in layers]
    return Finding(
        fault=Fault.ARCHITECTURE,
        severity=Severity.MEDIUM,
        confidence=0.7,
        where=paths[0],
        message=(
            f"The weights are trained, yet {listed(paths)} still {'remember' if len(paths) > 1 else 'remembers'} mean 0 and "
            "variance 1: the statistics were not updated while training, so predictions differ from what was trained."
        ),
        evidence=(_statistics(layers),),
    )


def _statistics(layers: list[Layer]) -> Table:
    rows = tuple((layer.path, 0.0, 1.0, "yes" if is_trainable(layer) else "no") for layer in layers[:20])
    return Table("Remembered statistics", ("layer", "mean", "variance", "trainable"), rows)


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.WEIGHTS}),
    run=_run,
    uses=frozenset({Evidence.FIT, Evidence.TRAINING}),
    explains=LITTLE_LEARNED
    | {"dead-relu", "exploding-gradient", "saturation", "train-eval-difference", "vanishing-gradient"},
)
