"""Layers that cannot learn.

Why: `trainable=False` keeps weights as they are. That is meant for a pretrained base; on the layers that should learn the
task, or on random weights, it leaves the network as good as its start.
Example: `base.trainable = False` on a base without pretrained weights; a whole model loaded and frozen before `fit`.
Fix: `layer.trainable = True` before `compile`.
Limits: a frozen pretrained base with a head that trains is right, and silent here. A frozen model inside another (the
discriminator of a GAN) is meant to be.
Source: Keras guide “Transfer learning and fine-tuning”; NeuraLint (TOSEM 2021).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.losses import initialiser_of
from stethoscope.checks.check import BADLY_TRAINED, IDLE_WEIGHTS, Check
from stethoscope.checks.curves.short_run import helped, learns_nothing, learns_well, listed
from stethoscope.checks.findings import Bars, Fault, Finding, Severity
from stethoscope.checks.fixes.layer_settings import Unfreeze
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import MATRICES, RECURRENT, core_of, is_trainable
from stethoscope.models.formats import format_of
from stethoscope.types import Layer


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    architecture = evidence.architecture
    if architecture is None or not format_of(architecture).live:
        return
    weighted = [layer for layer in architecture.layers if layer.parameters > 0 and _learns(layer)]
    frozen = [layer for layer in weighted if not is_trainable(layer)]
    if not frozen or not _to_be_trained(evidence):
        return
    if len(frozen) == len(weighted):
        yield _finding(
            frozen,
            Severity.HIGH,
            0.95,
            f"All {len(frozen)} layers with weights are frozen (trainable=False), so training changes nothing.",
        )
        return
    heads = {head.units_layer for head in evidence.heads}
    head = [layer for layer in frozen if layer.path in heads]
    others = [layer for layer in frozen if layer.path not in heads]
    initial = [layer for layer in others if _is_initial(evidence, layer)]
    if head and not others:
        untouched = any(_is_initial(evidence, layer) for layer in head)
        yield _finding(
            head,
            Severity.HIGH if untouched and not learns_well(evidence.training) else Severity.MEDIUM,
            0.85,
            f"{listed([layer.path for layer in head])}, the output layer, is frozen (trainable=False) while the layers before "
            "it train: it cannot learn to read them.",
        )
    elif initial:
        severity = Severity.LOW if learns_well(evidence.training) else Severity.MEDIUM
        if helped(evidence.training, "unfrozen") and learns_nothing(evidence.training):
            severity = Severity.HIGH
        yield _finding(
            initial,
            severity,
            0.8,
            f"{listed([layer.path for layer in initial])} {'are' if len(initial) > 1 else 'is'} frozen (trainable=False) at "
            "random initial weights, which hold nothing worth keeping. Let them train, or load pretrained weights.",
        )
    elif helped(evidence.training, "unfrozen"):
        yield _finding(
            others or frozen,
            Severity.HIGH if learns_nothing(evidence.training) else Severity.MEDIUM,
            0.7,
            f"{listed([layer.path for layer in others or frozen])} are frozen (trainable=False), and training them too ends "
            "clearly better.",
        )


def _learns(layer: Layer) -> bool:
    """Whether a layer has weights that fit could change: embeddings, matrices, cells; not normalisation or counters."""
    kind, _ = core_of(layer)
    return kind in (*MATRICES, *RECURRENT, "Embedding", "EinsumDense", "MultiHeadAttention") or "Conv" in kind


def _to_be_trained(evidence: EvidenceSet) -> bool:
    compiled = evidence.architecture is not None and evidence.architecture.compile is not None
    return compiled or evidence.fit is not None


def _is_initial(evidence: EvidenceSet, layer: Layer) -> bool:
    """Whether the layer's own bias is still what its initialiser gives; False when that cannot be told."""
    if evidence.weights is None:
        return False
    for tensor in evidence.weights.of(layer.path):
        if tensor.name == "bias" and initialiser_of(layer.config, "bias")[0] in ("zeros", "ones", "constant"):
            return tensor.distinct == 1
    return False


def _finding(layers: list[Layer], severity: Severity, confidence: float, message: str) -> Finding:
    return Finding(
        fault=Fault.ARCHITECTURE,
        severity=severity,
        confidence=confidence,
        where=layers[0].path,
        message=message,
        evidence=(
            Bars(
                "Frozen parameters",
                "parameters",
                tuple(layer.path for layer in layers[:40]),
                tuple(float(layer.parameters) for layer in layers[:40]),
            ),
        ),
        fix=Unfreeze(layers=tuple(layer.path for layer in layers)),
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.FIT, Evidence.WEIGHTS, Evidence.TRAINING}),
    explains=BADLY_TRAINED | IDLE_WEIGHTS | {"fit-small-batch", "null-input", "update-ratio"},
)
