"""A gradient that is not the slope of the loss.

Why: training follows the gradient that the code computes. Where an operation cuts it off or computes it wrongly, weights
are moved in a direction that does not lower the loss, and no rate helps.
Example: `stop_gradient` in the middle of a network; a custom gradient with a wrong sign; rounding inside the model.
Fix: leave the operation out of the path that is to be trained.
Limits: measured with 32-bit numbers by moving the weights a little and looking at the loss, so only differences of more
than 10 % count, and kinks (ReLU, max) are averaged over several steps.
Source: cs231n.github.io/neural-networks-3, gradient checks: a relative error above 1e-2 usually means a wrong gradient.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import IDLE_WEIGHTS, Check
from stethoscope.checks.curves.remedies import GOOD_SKILL, base_skill
from stethoscope.checks.findings import Fault, Finding, Number, Severity, Table
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.training import GradientError

_WRONG = 0.1
_OPERATIONS = ("StopGradient", "Round", "Floor", "Ceil", "Sign", "Argmax", "Argmin", "Cast", "Lambda")


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    if training is None:
        return
    wrong = [one for one in training.gradient_errors if one.relative_error > _WRONG]
    if not wrong:
        return
    worst = max(wrong, key=lambda one: one.relative_error)
    learns = base_skill(training) >= GOOD_SKILL
    suspect = _suspect(evidence)
    how = f" {suspect} is what lets no gradient through." if suspect and _cut(worst) else ""
    yield Finding(
        fault=Fault.NUMERICAL,
        severity=Severity.LOW if learns else Severity.MEDIUM,
        confidence=0.7,
        where=worst.layer,
        message=(
            f"The gradient computed for {worst.layer} is {worst.analytic:.3g} where the loss really changes by "
            f"{worst.numeric:.3g}: its weights are not moved the way that lowers the loss.{how}"
        ),
        evidence=(
            Number("relative error", worst.relative_error, threshold=_WRONG),
            Table(
                "Slope of the loss along one direction of each layer's weights",
                ("layer", "computed", "measured", "relative error"),
                tuple((one.layer, one.analytic, one.numeric, one.relative_error) for one in training.gradient_errors),
            ),
        ),
        fix=Advice(
            text=(
                f"Leave {suspect} out of the path from {worst.layer} to the loss, or use an operation that has a gradient."
                if suspect
                else f"Check the custom gradient or operation between {worst.layer} and the loss with tf.test.compute_gradient."
            )
        ),
    )


def _cut(error: GradientError) -> bool:
    return abs(error.analytic) < _WRONG * abs(error.numeric)


def _suspect(evidence: EvidenceSet) -> str:
    layers = evidence.architecture.layers if evidence.architecture is not None else ()
    return next((layer.path for layer in layers if layer.type in _OPERATIONS), "")


CHECK = Check(
    needs=frozenset({Evidence.TRAINING}),
    run=_run,
    uses=frozenset({Evidence.ARCHITECTURE}),
    explains=IDLE_WEIGHTS | {"fit-small-batch", "loss-flat", "loss-slow"},
)
