"""A few rows cannot be learned by heart.

Why: any network with a sound path from input to loss can learn a handful of rows by heart. If it cannot, something in the
model, the loss or the labels stands in the way, and more data or more epochs will not help.
Example: ReLU on the output of a regression with negative targets; every unit of a layer dead.
Fix: what blocks: the layer through which no gradient passes.
Limits: a network with fewer weights than rows cannot learn them either, so without a layer that blocks this is a remark;
rows with equal inputs and different labels cannot be learned by anything.
Source: Karpathy, A recipe for training neural networks (2019), “overfit one batch”.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import LITTLE_LEARNED, Check
from stethoscope.checks.curves.remedies import GOOD_SKILL, base_skill
from stethoscope.checks.curves.short_run import blocked_fault, where_blocked
from stethoscope.checks.findings import Curves, EvidenceItem, Finding, Line, Number, Severity, Table
from stethoscope.checks.fixes.compile_and_fit import SetLearningRate
from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.checks.fixes.layer_settings import SetInitialiser, Unfreeze
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.trials import CONSTANT, DEAD, FROZEN, GRADIENT_VANISHES, OverfitEvidence

_LEAST_STEPS = 100
"""Fewer say nothing: most networks need some hundred steps even for a few rows."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    overfit = evidence.overfit
    if overfit is None or overfit.verdict not in ("cannot", "partly", "diverges") or overfit.steps < _LEAST_STEPS:
        return
    conflicting = evidence.data is not None and any(
        target.conflicting_duplicates for target in evidence.data.targets.values()
    )
    learns = evidence.training is not None and base_skill(evidence.training) >= GOOD_SKILL
    severity = Severity.HIGH
    unknown = all(one.reason == GRADIENT_VANISHES for one in overfit.blocked) and overfit.verdict == "cannot"
    if overfit.verdict == "partly" or conflicting or unknown or overfit.source != "data":
        severity = Severity.LOW
    if learns:
        severity = Severity.INFO
    layer = overfit.blocking
    reason = overfit.reason or (f"In {layer.path}, {layer.reason}." if layer else "What blocks it is not known.")
    yield Finding(
        fault=blocked_fault(overfit),
        severity=severity,
        confidence=0.7 if overfit.blocked else 0.5,
        where=layer.path if layer else "model",
        message=(
            f"{overfit.samples} rows cannot be learned by heart in {overfit.steps:,} steps: {overfit.fitted_fraction:.0%} of "
            f"them come out right, and the loss ends at {overfit.final_loss:.3g} (it began at {overfit.initial_loss:.3g}). "
            f"{reason}"
        ),
        evidence=_shown(overfit),
        fix=_fix(overfit),
        title=f"{layer.path}: {layer.reason}" if layer and layer.path == where_blocked(overfit, "") else "",
    )


def _shown(overfit: OverfitEvidence) -> tuple[EvidenceItem, ...]:
    line = Line("loss", tuple(float(step) for step in overfit.loss_steps), overfit.loss)
    items: list[EvidenceItem] = [
        Curves(f"Loss on {overfit.samples} rows, trained again and again", "step", "loss", (line,)),
        Number("rows learned", overfit.fitted_fraction, threshold=1.0),
        Number("lowest loss possible", overfit.floor),
    ]
    if overfit.blocked:
        rows = tuple((one.path, one.reason, one.value) for one in overfit.blocked)
        items.append(Table("Layers that let no learning through", ("layer", "what is seen", "value"), rows))
    return tuple(items)


def _fix(overfit: OverfitEvidence) -> Fix:
    if overfit.verdict == "diverges" and overfit.own_learning_rate:
        return SetLearningRate(overfit.own_learning_rate / 10, was=overfit.own_learning_rate)
    layer = overfit.blocking
    alike = tuple(one.path for one in overfit.blocked if layer and one.reason == layer.reason)
    if layer and layer.reason == FROZEN:
        return Unfreeze(layers=alike)
    if layer and layer.reason == DEAD:
        return SetInitialiser(layers=alike, kernel="he_normal", bias="zeros")
    place = layer.path if layer else "the last layer"
    if layer and layer.reason == CONSTANT:
        return Advice(
            text=f"Find why the output of {place} is the same for every row: a factor of 0, weights that are all 0, an input that is "
            "not used. If it serves nothing, take it out."
        )
    return Advice(
        text=f"Look at {place}: its activation, the range of values it can give, and whether the loss and the labels fit it."
    )


CHECK = Check(
    needs=frozenset({Evidence.OVERFIT}),
    run=_run,
    uses=frozenset({Evidence.DATA, Evidence.TRAINING}),
    explains=LITTLE_LEARNED | {"constant-output", "null-input", "per-class-error", "unchanged-weights"},
    symptom=True,
)
