"""Dropout in the wrong place.

Why: dropout after the output sets predictions to zero at random while training, so the loss punishes what the network
did not say; a regression learns to answer too low, because the kept values are scaled up while training and not later.
Dropout before batch normalisation changes the variance between training and use.
Example: `Dense(10, activation="softmax")` followed by `Dropout(0.5)` at the end.
Fix: move it before the last layer; put it after batch normalisation.
Source: Li et al., Understanding the Disharmony between Dropout and Batch Normalization (CVPR 2019); NeuraLint (TOSEM
2021), rule on dropout order. Shrinkage: the minimum of E[(y − mŷ/(1−r))²] over masks m is ŷ = (1 − r) y.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import LITTLE_LEARNED, Check
from stethoscope.checks.curves.short_run import helped, learns_well
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.layers import MoveDropout
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import DROPPING, RESHAPING
from stethoscope.types import Layer


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    graph = evidence.connections
    for head in evidence.heads:
        tail = [head.layer] if head.layer in graph.layers else []
        while tail and tail[-1] != head.units_layer and (before := graph.before(tail[-1])) is not None:
            tail.append(before.path)
        for path in tail:
            layer = graph.layers[path]
            rate = layer.config.get("rate")
            if layer.type in DROPPING and isinstance(rate, int | float) and rate > 0:
                yield _after_output(evidence, head, layer, float(rate))
    for layer in graph.layers.values():
        if layer.type not in DROPPING or not layer.config.get("rate"):
            continue
        _, after = graph.following(layer.path, RESHAPING)
        if after is not None and after.type == "BatchNormalization":
            yield _before_normalisation(layer, after)


def _after_output(evidence: EvidenceSet, head: Head, layer: Layer, rate: float) -> Finding:
    regression = head.task == "regression"
    if learns_well(evidence.training) and not regression:
        severity = Severity.LOW
    elif regression or helped(evidence.training, "no-dropout"):
        severity = Severity.HIGH
    else:
        severity = Severity.MEDIUM
    effect = (
        f"it learns to answer {rate:.0%} too low"
        if regression
        else f"{rate:.0%} of the predictions are set to 0 at random"
    )
    fix = MoveDropout(layer=layer.path, before=head.units_layer, rate=rate)
    return Finding(
        fault=Fault.REGULARISATION,
        severity=severity,
        confidence=0.9,
        where=layer.path,
        message=f"{layer.path} comes after the output layer {head.units_layer}: while training, {effect}. Move it before {head.units_layer}.",
        evidence=(Number("share of outputs set to 0 while training", rate, threshold=0.0),),
        fix=fix,
    )


def _before_normalisation(layer: Layer, after: Layer) -> Finding:
    rate = float(layer.config["rate"])
    return Finding(
        fault=Fault.REGULARISATION,
        severity=Severity.LOW,
        confidence=0.6,
        where=layer.path,
        message=(
            f"{layer.path} comes before the batch normalisation {after.path}, which then remembers the variance of "
            "dropped values, larger than what it meets later. Put the dropout after it."
        ),
        evidence=(Number("variance while training over variance in use", 1 / max(1e-3, 1 - rate), threshold=1.0),),
        fix=MoveDropout(layer=layer.path, after=after.path, rate=rate),
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.DATA, Evidence.FIT, Evidence.TRAINING}),
    explains=LITTLE_LEARNED | {"loss-oscillating", "train-eval-difference", "underfitting"},
)
