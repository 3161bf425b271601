"""Dead relu units.

Why: a relu that is 0 for every row has slope 0 for every row: it gets no gradient and stays off for good. When most of a
layer is dead the rest of the network is starved.
Example: a learning rate of 0.1 that threw the biases far below zero; inputs that are all large and negative.
Fix: scale the inputs, a smaller learning rate, `he_normal` weights and zero biases; `leaky_relu` cannot die.
Limits: a symptom. Trained networks live well with many dead units, and random input shows less than data.
Source: SageMaker Debugger, rule “DeadRelu” (units inactive in half of the layer); Lu et al., Dying ReLU and
Initialization (2019). Thresholds: half of a layer is worth knowing, 90 % after
training a defect.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import LEAKY_RELU, RELU
from stethoscope.checks.check import IDLE_WEIGHTS, LITTLE_LEARNED, NOTHING_FITTED, Check
from stethoscope.checks.curves.short_run import learns_nothing, learns_well, listed
from stethoscope.checks.findings import Bars, Fault, Finding, Mark, Severity
from stethoscope.checks.fixes.layers import ReplaceActivation
from stethoscope.evidence.kinds import Evidence, EvidenceSet

HALF = 0.5
_MOST = 0.9
_NEARLY_ALL = 0.95
_FEW_ROWS = 16


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    dead = _after_training(evidence)
    if dead:
        worst = max(dead.values())
        if learns_well(evidence.training) or worst < _MOST:
            severity = Severity.LOW
        else:
            nothing = learns_nothing(evidence.training) and worst >= _NEARLY_ALL
            severity = Severity.HIGH if nothing else Severity.MEDIUM
        fault = Fault.INITIALISATION if max(_as_given(evidence).values(), default=0.0) >= HALF else Fault.LEARNING_RATE
        yield _finding(evidence, dead, severity, 0.7, "after the short training run", fault)
        return
    if evidence.training is not None and evidence.training.base:
        return
    dead = _as_given(evidence)
    if not dead or evidence.activations is None:
        return
    real = evidence.activations.source == "data"
    trained = evidence.weights is not None and evidence.weights.trained is True
    worst = max(dead.values())
    if worst >= 1.0:
        severity = Severity.HIGH if real else Severity.MEDIUM
    else:
        severity = Severity.MEDIUM if real and worst >= _NEARLY_ALL else Severity.LOW
    where = "on your data" if real else "on random input"
    fault = Fault.LEARNING_RATE if trained else Fault.INITIALISATION
    yield _finding(evidence, dead, severity, 0.7 if real else 0.4, where, fault)


def _after_training(evidence: EvidenceSet) -> dict[str, float]:
    layers = evidence.training.layers if evidence.training else ()
    return {
        layer.path: layer.dead_fraction[-1]
        for layer in layers
        if layer.dead_fraction and layer.dead_fraction[-1] >= HALF
    }


def _as_given(evidence: EvidenceSet) -> dict[str, float]:
    seen = evidence.activations
    if seen is None or (seen.rows < _FEW_ROWS and seen.source == "data"):
        return {}
    return {
        layer.path: share for layer in seen.layers if (share := layer.dead_units_fraction) is not None and share >= HALF
    }


def _finding(
    evidence: EvidenceSet, dead: dict[str, float], severity: Severity, confidence: float, where: str, fault: Fault
) -> Finding:
    worst = max(dead, key=lambda path: dead[path])
    layer = evidence.connections.layers.get(worst)
    return Finding(
        fault=fault,
        severity=severity,
        confidence=confidence,
        where=worst,
        message=(
            f"{dead[worst]:.0%} of the relu units of {worst} are 0 for every row {where}"
            f"{f' (also in {listed([path for path in dead if path != worst])})' if len(dead) > 1 else ''}: they get no gradient "
            "and cannot recover."
        ),
        evidence=(
            Bars(
                "Dead units",
                "share of the layer",
                tuple(dead),
                tuple(dead.values()),
                (Mark(HALF, "half of the layer"),),
            ),
        ),
        fix=ReplaceActivation(
            layer=worst, activation=LEAKY_RELU.name, was=RELU.name, layer_type=layer.type if layer else ""
        ),
    )


CHECK = Check(
    needs=frozenset({Evidence.ACTIVATIONS}),
    run=_run,
    uses=frozenset({Evidence.WEIGHTS, Evidence.TRAINING, Evidence.DATA}),
    explains=LITTLE_LEARNED | IDLE_WEIGHTS | NOTHING_FITTED | {"null-input"},
    symptom=True,
)
