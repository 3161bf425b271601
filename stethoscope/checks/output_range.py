"""Targets out of the output's reach.

Why: an activation bounds what the network can say: sigmoid 0 … 1, tanh −1 … 1, relu never below 0, softmax rows that sum
to 1. Targets beyond it can never be predicted, however long it trains.
Example: `Dense(1, activation="relu")` for temperatures that go below zero; sigmoid for prices; an autoencoder that
ends in sigmoid and is to rebuild pixels from 0 to 255.
Fix: no activation on the last layer of a regression; or targets scaled into the range.
Limits: sigmoid for targets in 0 … 1 and relu for targets from 0 are fine. Named from the best R² (share of the spread
explained) that the range leaves possible: above 0.9 it is medium.
Source: R² of the nearest reachable values (projection); Goodfellow et al., Deep Learning (2016), section 6.2.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import CAN_DIE, LINEAR, SOFTMAX
from stethoscope.architecture.losses import BINARY_LOSSES, CLASSIFICATION_LOSSES
from stethoscope.checks.check import IDLE_WEIGHTS, LITTLE_LEARNED, NOTHING_FITTED, Check
from stethoscope.checks.curves.short_run import learns_nothing
from stethoscope.checks.findings import EvidenceItem, Fault, Finding, Histogram, Mark, Number, Severity
from stethoscope.checks.fixes.combined import Combined
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layers import ReplaceActivation
from stethoscope.checks.fixes.values import ScaleInputs, ScaleTargets
from stethoscope.checks.judging.contract import as_shape, reach, weighed
from stethoscope.data.study.profiles import ArrayProfile, TargetProfile
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import Evidence, EvidenceSet

MEDIUM_CEILING, NO_SKILL = 0.9, 0.0
"""Best possible R² above which the harm is small, and at which nothing at all can be learned."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for head in evidence.heads:
        target, bounds = head.target, head.range
        if target is None or bounds is None or head.softmax_units == 1 or not _numbers(head, target):
            continue
        if head.activation == SOFTMAX.name:
            if finding := _softmax(head, target, evidence):
                yield finding
            continue
        missed = reach(target.array, *bounds)
        if missed is None:
            if head.activation in CAN_DIE and learns_nothing(evidence.training) and _constant(evidence):
                yield _dead(head, target)
            continue
        severity = Severity.HIGH if missed.ceiling < MEDIUM_CEILING else Severity.MEDIUM
        if missed.ceiling <= NO_SKILL:
            severity = Severity.CRITICAL
        low, high = target.array.minimum, target.array.maximum
        pixels = bool(head.rebuilds) and low == 0 and (high or 0) > 1
        reached = f"{bounds[0]:g} … {bounds[1]:g}" if bounds[1] < 1e30 else f"{bounds[0]:g} and above"
        advice = (
            f"Divide the values by {high:g}, as input and as target."
            if pixels
            else "Leave the activation out, or scale the targets into its range."
        )
        yield Finding(
            fault=Fault.PREPROCESSING if pixels else Fault.ACTIVATION,
            severity=weighed(severity, evidence, failing=severity),
            confidence=0.95 if missed.ceiling < MEDIUM_CEILING else 0.75,
            where=head.layer,
            message=(
                f"{head.layer} ends in {head.activation} and can only predict {reached}, but the targets go from {low:g} "
                f"to {high:g}: {missed.outside:.0%} of them are out of reach. {advice}"
            ),
            evidence=(
                *_picture(target.array, head.activation, bounds),
                Number("best R² within reach", missed.ceiling, threshold=MEDIUM_CEILING),
                Number("targets out of reach", 100 * missed.outside, "%"),
            ),
            fix=_fix(head, target, pixels),
        )


def _numbers(head: Head, target: TargetProfile) -> bool:
    """Whether the targets are quantities to predict, with a loss that reads quantities."""
    if head.loss in CLASSIFICATION_LOSSES - BINARY_LOSSES:
        return False
    if head.loss in BINARY_LOSSES:
        return bool(head.rebuilds) and not head.from_logits
    if target.kind == "classes":
        return head.units == 1 and (target.array.maximum or 0) > 1
    return head.task == "regression" and target.kind == "continuous"


def _softmax(head: Head, target: TargetProfile, evidence: EvidenceSet) -> Finding | None:
    low, high = target.row_sum_minimum, target.row_sum_maximum
    if (
        target.kind != "continuous"
        or not head.units
        or low is None
        or high is None
        or target.array.shape[-1] != head.units
    ):
        return None
    return Finding(
        fault=Fault.ACTIVATION,
        severity=weighed(Severity.HIGH, evidence),
        confidence=0.9,
        where=head.layer,
        message=(
            f"{head.layer} ends in softmax, so its {head.units} values are positive and sum to 1, but the targets' rows sum "
            f"to {low:g} … {high:g}. Leave the activation out."
        ),
        evidence=(
            Number("sum of a row, largest", high, threshold=1),
            *_picture(target.array, SOFTMAX.name, (0.0, 1.0)),
        ),
        fix=_fix(head, target, False),
    )


def _dead(head: Head, target: TargetProfile) -> Finding:
    return Finding(
        fault=Fault.ACTIVATION,
        severity=Severity.HIGH,
        confidence=0.7,
        where=head.layer,
        message=(
            f"{head.layer} ends in {head.activation} and puts out the same number for every row: once its sum is below 0 it "
            "stays 0 and no gradient reaches it. Leave the activation out."
        ),
        evidence=_picture(target.array, head.activation, head.range or (0.0, 0.0)),
        fix=_fix(head, target, False),
    )


def _constant(evidence: EvidenceSet) -> bool:
    training = evidence.training
    return training is not None and any(run.final.distinct_predictions == 1 for run in training.base)


def _fix(head: Head, target: TargetProfile, pixels: bool) -> Fix:
    if pixels:
        return Combined(
            (ScaleInputs(head.rebuilds, "divide", target.array.maximum), ScaleTargets(head.output, "minmax"))
        )
    return ReplaceActivation(head.layer, LINEAR.name, was=head.activation, layer_type=head.layer_type, units=head.units)


def _picture(array: ArrayProfile, activation: str, bounds: tuple[float, float]) -> tuple[EvidenceItem, ...]:
    if len(array.histogram_edges) != len(array.histogram_counts) + 1:
        return ()
    marks = tuple(
        Mark(bound, f"{activation} {'from' if index == 0 else 'to'} {bound:g}")
        for index, bound in enumerate(bounds)
        if abs(bound) < 1e30
    )
    title = f"Targets {array.name} {as_shape(array.shape)} and what {activation} can reach"
    return (Histogram(title, "target", array.histogram_edges, array.histogram_counts, marks),)


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.DATA}),
    run=_run,
    uses=frozenset({Evidence.FIT, Evidence.TRAINING}),
    explains=LITTLE_LEARNED
    | IDLE_WEIGHTS
    | NOTHING_FITTED
    | {"dead-relu", "initial-loss", "loss-diverging", "null-input", "saturation", "target-scaling", "underfitting"},
)
