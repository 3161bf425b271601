"""Layers of a recorded training that stand still.

Why: a layer whose units are all off, whose activation is flat for every row, or which no gradient reaches, cannot learn,
and what lies before it can learn nothing through it.
Example: a rate that threw the biases of a relu layer far below zero: from then on every unit is 0 for every row.
Fix: what brought the layer there: a smaller learning rate, scaled inputs, other initial weights; `leaky_relu` cannot die.
Limits: needs a log that holds gradients and activations, as `stethoscope.training.recording.Recorder` writes them. Of a training that
learns all the same, only dead layers are mentioned, and as worth knowing.
Source: SageMaker Debugger, rules DeadRelu, TanhSaturation and VanishingGradient. Threshold: 95 % of the layer at every look
in the last third of the training, since batches are small and a look sees only one of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from stethoscope.architecture.activations import LEAKY_RELU, RELU
from stethoscope.checks.check import Check
from stethoscope.checks.curves.log_pictures import losses_of
from stethoscope.checks.curves.log_shape import learns_nothing, shape_of
from stethoscope.checks.curves.short_run import listed
from stethoscope.checks.findings import Bars, Fault, Finding, Mark, Severity, Span
from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.checks.fixes.layer_settings import SetInitialiser
from stethoscope.checks.fixes.layers import ReplaceActivation
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.curves import DEAD_FRACTION, GRADIENT_NORM, SATURATED_FRACTION, CurveEvidence, LayerMeasure

NEARLY_ALL = 0.95
_LEAST_LOOKS = 6
_LEARNED = 1e-6
"""A loss this small stands still because there is nothing left to learn."""
_MARKED = 20
_LABELS = {DEAD_FRACTION: "share of dead units", SATURATED_FRACTION: "share of saturated values"}


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    curve = evidence.logs
    if curve is None:
        return
    looked = [one for one in curve.layers if one.looks >= _LEAST_LOOKS]
    if not looked or not all(map(math.isfinite, curve.loss)):
        return
    shape = shape_of(curve)
    nothing = learns_nothing(shape) and shape.end > _LEARNED
    dead = _of(looked, DEAD_FRACTION)
    # Sure answers are flat ends too: only a score tells that they are wrong.
    saturated = _of(looked, SATURATED_FRACTION) if nothing and shape.skill is not None else []
    unreached = [one for one in looked if one.kind == GRADIENT_NORM and one.highest == 0] if nothing else []
    found = dead or saturated or unreached
    if not found:
        return
    worst = max(found, key=lambda one: one.lowest)
    others = [one.layer for one in found if one is not worst]
    said, fix = _said(worst, found)
    also = f" (also {listed(others)})" if others else ""
    ends = " The loss does not fall." if nothing else " The training learns all the same."
    if unreached and found is not unreached:
        ends = f" No gradient at all reaches {listed([one.layer for one in unreached])}.{ends}"
    yield Finding(
        fault=Fault.LEARNING_RATE if dead else Fault.INITIALISATION if saturated else Fault.ARCHITECTURE,
        severity=Severity.HIGH if nothing else Severity.LOW,
        confidence=0.8 if nothing else 0.5,
        where=worst.layer,
        message=f"From step {worst.since:,.0f} to {worst.until:,.0f} {said}{also}.{ends}",
        evidence=(*_bars(found), losses_of(curve)),
        fix=fix,
        marks=tuple(_span(curve, one) for one in found[:_MARKED]),
    )


def _of(looked: list[LayerMeasure], kind: str) -> list[LayerMeasure]:
    return [one for one in looked if one.kind == kind and one.lowest >= NEARLY_ALL]


def _said(worst: LayerMeasure, found: list[LayerMeasure]) -> tuple[str, Fix]:
    share = "all" if worst.lowest >= 1 else f"at least {worst.lowest:.0%} of the"
    if worst.kind == DEAD_FRACTION:
        fix: Fix = ReplaceActivation(layer=worst.layer, activation=LEAKY_RELU.name, was=RELU.name)
        return f"{share} units of {worst.layer} are 0 for every row and cannot recover", fix
    if worst.kind == SATURATED_FRACTION:
        fix = SetInitialiser(layers=tuple(one.layer for one in found), kernel="glorot_uniform")
        return f"{share} values of {worst.layer} are at the flat ends of its activation, where no gradient passes", fix
    text = f"Find what keeps the gradient from {worst.layer}: an operation without one, or an output that nothing uses."
    return f"no gradient reaches {worst.layer}", Advice(text=text)


def _bars(found: list[LayerMeasure]) -> tuple[Bars, ...]:
    label = _LABELS.get(found[0].kind)
    if label is None:
        return ()
    names, values = tuple(one.layer for one in found), tuple(one.lowest for one in found)
    return (Bars("Lowest value late in the training", label, names, values, (Mark(NEARLY_ALL, "nearly all"),)),)


def _span(curve: CurveEvidence, one: LayerMeasure) -> Span:
    return Span(curve.run, one.tag, one.since, one.until, "stands still")


CHECK = Check(
    needs=frozenset({Evidence.LOGS}),
    run=_run,
    explains=frozenset(
        {"loss-flat", "loss-slow", "loss-plateau", "underfitting", "learning-rate-low", "unchanged-weights"}
    ),
    symptom=True,
)
