"""Updates far too small or too large for the weights they change.

Why: a healthy update changes weights by about a thousandth of their size. Below 6e-8 a 32-bit number does not change at
all; above 1 every update replaces what was learned before.
Example: `SGD(1e-12)`: the weights stay exactly where they started.
Fix: the optimizer's usual learning rate.
Source: cs231n.github.io/neural-networks-3 (ratio near 1e-3); thresholds 10 and 1e-8: SageMaker Debugger, rule
WeightUpdateRatio.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.curves.log_pictures import by_layer
from stethoscope.checks.curves.remedies import CLEARLY_WORKS, NOTHING_LEARNED, base_skill, usual_rate
from stethoscope.checks.curves.short_run import kernel_layers, median_update
from stethoscope.checks.findings import Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.compile_and_fit import SetLearningRate
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.trials import median_norm

_LARGEST, _SMALLEST = 10.0, 1e-8
_SOME_GRADIENT = 1e-7
"""Below this there is no gradient to speak of, and the rate is not to blame."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    if training is None:
        return
    layers = [layer for layer in kernel_layers(training) if median_update(layer) is not None]
    ratios = [median_update(layer) or 0.0 for layer in layers]
    if not layers:
        return
    small = all(ratio < _SMALLEST for ratio in ratios) and any(median_norm(one) > _SOME_GRADIENT for one in layers)
    large = max(ratios) > _LARGEST
    if not small and not large:
        return
    skill = base_skill(training)
    at = max(range(len(layers)), key=lambda index: ratios[index])
    if small:
        severity = Severity.HIGH if skill <= NOTHING_LEARNED else Severity.LOW
        effect = "too little for a 32-bit number to change; the learning rate is far too small"
    else:
        severity = Severity.MEDIUM if skill < CLEARLY_WORKS else Severity.LOW
        effect = "so each update overwrites what was learned before; the learning rate is far too large"
    usual = usual_rate(training.optimizer) or 1e-3
    rate = usual if training.learning_rate is None or small else min(usual, training.learning_rate / 100)
    yield Finding(
        fault=Fault.LEARNING_RATE,
        severity=severity,
        confidence=0.8 if small else 0.6,
        where=layers[at].path,
        message=f"One update changes the weights of {layers[at].path} by {ratios[at]:.2g} of their size, {effect}.",
        evidence=(
            by_layer(
                "One update over the weights",
                "ratio",
                layers,
                ratios,
                Mark(_SMALLEST, "no change"),
                Mark(1.0, "all of it"),
            ),
            Number("largest update ratio", ratios[at], threshold=_SMALLEST if small else _LARGEST),
        ),
        fix=SetLearningRate(learning_rate=rate, was=training.learning_rate, optimizer=training.optimizer),
    )


CHECK = Check(
    title="Updates far too small or too large",
    needs=frozenset({Evidence.TRAINING}),
    run=_run,
    explains=BADLY_TRAINED | {"fit-small-batch", "learning-rate-range", "null-input", "unchanged-weights"},
    symptom=True,
)
