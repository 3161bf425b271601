"""Bias that starts far off.

Why: the output's bias is what the network says before it has learned anything. Far from what the targets say on average,
the first epochs are spent on moving it; large hidden biases saturate sigmoids or switch relu units off for good.
Example: 1 % positives and an output bias of 0 (50 %); hidden layers with `bias_initializer=Constant(-10)`.
Fix: start the output's bias at the log odds of the classes (or the targets' mean), hidden ones at 0.
Limits: for an imbalanced target it saves epochs, no more.
Source: Karpathy, A Recipe for Training Neural Networks (2019), “init well”; TensorFlow tutorial “Classification on
imbalanced data”, “set the correct initial bias”. Threshold: sigmoid and tanh are flat beyond 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from stethoscope.architecture.activations import FLAT_ENDS, RELU, SIGMOID, SOFTMAX, SQUASHING
from stethoscope.checks.check import IDLE_WEIGHTS, NOTHING_FITTED, Check
from stethoscope.checks.curves.short_run import weighed
from stethoscope.checks.findings import Bars, Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.layer_settings import SetInitialiser
from stethoscope.checks.fixes.layers import SetOutputBias
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import WeightProfile, activation_inside

_FLAT = 5.0
_IMBALANCE = 10.0
_LEAST_ROWS = 200


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.weights is None or evidence.weights.trained:
        return
    heads = {head.units_layer: head for head in evidence.heads}
    for tensor in evidence.weights.tensors:
        layer = evidence.connections.layers.get(tensor.layer)
        if layer is None or tensor.name != "bias" or tensor.nonfinite or tensor.distinct > 1:
            continue
        activation = activation_inside(layer)
        head = heads.get(tensor.layer)
        squashes = activation in FLAT_ENDS and activation in SQUASHING and abs(tensor.mean) >= _FLAT
        if squashes or (activation == RELU.name and head is None and tensor.mean <= -_FLAT):
            yield _far(evidence, tensor, activation)
        elif head is not None and tensor.mean == 0 and tensor.trainable:
            yield from _imbalanced(head)


def _far(evidence: EvidenceSet, tensor: WeightProfile, activation: str) -> Finding:
    effect = "units are off for every ordinary input" if activation == RELU.name else f"{activation} is flat there"
    return Finding(
        fault=Fault.INITIALISATION,
        severity=weighed(evidence.training, "default-init"),
        confidence=0.8,
        where=tensor.layer,
        message=f"The bias of {tensor.layer} starts at {tensor.mean:g}, so its {effect} and hardly any gradient passes. Start it at 0.",
        evidence=(Number("initial bias", tensor.mean, threshold=math.copysign(_FLAT, tensor.mean)),),
        fix=SetInitialiser(layers=(tensor.layer,), bias="zeros"),
    )


def _imbalanced(head: Head) -> Iterator[Finding]:
    target = head.target
    if target is None or target.kind not in ("binary", "one-hot", "classes") or target.array.rows < _LEAST_ROWS:
        return
    counts = target.class_counts
    if len(counts) < 2 or not all(counts) or max(counts) / min(counts) < _IMBALANCE:
        return
    total = sum(counts)
    if head.units == 1 and len(counts) == 2 and head.activation == SIGMOID.name:
        values: tuple[float, ...] = (math.log(counts[1] / counts[0]),)
    elif head.units == len(counts) and head.activation == SOFTMAX.name:
        values = tuple(math.log(count / total) for count in counts)
    else:
        return
    yield Finding(
        fault=Fault.INITIALISATION,
        severity=Severity.LOW,
        confidence=0.6,
        where=head.units_layer,
        message=(
            f"The classes of {head.output} are {max(counts) / min(counts):.0f} to 1, and the bias of {head.units_layer} starts "
            "as if they were even: the first epochs only learn how rare they are. Start it at their log odds."
        ),
        evidence=(
            Bars(
                "Rows of each class",
                "rows",
                tuple(f"{value:g}" for value in target.class_values),
                tuple(map(float, counts)),
                (Mark(total / len(counts), "what the bias assumes"),),
            ),
        ),
        fix=SetOutputBias(layer=head.units_layer, values=values),
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.WEIGHTS}),
    run=_run,
    uses=frozenset({Evidence.DATA, Evidence.FIT, Evidence.TRAINING}),
    explains=IDLE_WEIGHTS
    | NOTHING_FITTED
    | {"dead-relu", "initial-loss", "loss-slow", "null-input", "saturation", "update-ratio"},
)
