"""The network is too small for the task.

Why: without a hidden layer a network can only draw a straight line through its inputs; with a few units, a simple curve.
Training converges, and what is left of the error stays whatever the settings.
Example: XOR with `Dense(1, activation="sigmoid")` alone: accuracy 0.5 for ever.
Fix: a hidden layer, or more units.
Limits: named when the loss has settled, other settings do not help as much, and a larger network, trained the same way,
ends clearly better on training and validation rows.
Source: Minsky and Papert, Perceptrons (1969); DeepFD (ICSE 2022), layer faults. Thresholds: ours, tuned on the benchmark's
given and dev cases.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.curves.pictures import gain_numbers, gains, losses
from stethoscope.curves.remedies import GOOD_SKILL, LEAST_GAIN, base_skill, best, broke, remedies
from stethoscope.curves.settings import falls_at_the_end
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.findings import Fault, Finding, Severity
from stethoscope.fixes.add_hidden_layer import AddHiddenLayer

_CLEARLY_BETTER = 1.25
_UNITS = 32


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    if training is None or base_skill(training) >= GOOD_SKILL or broke(training):
        return
    tried = remedies(training)
    wider = best(tried, "capacity")
    if wider is None:
        return
    rival = max((remedy.gain for remedy in tried if remedy.kind != "capacity" and remedy.substantial), default=0.0)
    if wider.gain < _CLEARLY_BETTER * rival:
        return
    hidden = _hidden_layers(evidence)
    settled = not falls_at_the_end(training)
    shallow = hidden == 0
    sure = settled or shallow
    severity = Severity.HIGH if sure and wider.rescues else Severity.MEDIUM if sure else Severity.LOW
    form = "It has no hidden layer, so it can only weigh its inputs" if shallow else "It has too few units"
    head = next((one.units_layer for one in evidence.heads if one.units_layer), "")
    yield Finding(
        check_id=CHECK.id,
        fault=Fault.ARCHITECTURE,
        severity=severity,
        confidence=0.7 if shallow else 0.5,
        where=head or "model",
        message=(
            f"The network is too small for this task. {form}: with {wider.trial.title[:1].lower() + wider.trial.title[1:]} the "
            f"skill is {wider.after:.2f} instead of {wider.before:.2f} (1 is perfect), more than other settings reach."
        ),
        evidence=(losses(training, wider), *gain_numbers(wider, LEAST_GAIN), gains(training, tried)),
        fix=AddHiddenLayer(before=head, units=_UNITS, activation="relu") if head else None,
    )


def _hidden_layers(evidence: EvidenceSet) -> int | None:
    """Layers with weights before the heads; None when the architecture is not known."""
    if evidence.architecture is None:
        return None
    ends = {path for head in evidence.heads for path in (head.layer, head.units_layer)}
    return sum(
        1
        for layer in evidence.architecture.layers
        if layer.parameters and layer.path not in ends and "Normalization" not in layer.type
    )


CHECK = Check(
    id="underfitting",
    title="The network is too small for the task",
    needs=frozenset({Evidence.TRAINING}),
    run=_run,
    uses=frozenset({Evidence.ARCHITECTURE, Evidence.DATA, Evidence.FIT}),
    explains=frozenset(
        {"loss-flat", "loss-slow", "worse-than-baseline", "constant-output", "per-class-error", "fit-small-batch"}
    ),
    symptom=True,
)
