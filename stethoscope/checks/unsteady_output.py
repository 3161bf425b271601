"""Different predictions for the same input.

Why: in use, the same input must give the same answer. A layer that draws random numbers there was left in training mode.
Example: `Dropout(0.5)(x, training=True)`, or `model(x, training=True)` exported as it is.
Fix: call the layer without `training=True`.
Limits: sampling on purpose (a variational autoencoder, Monte Carlo dropout) is named at a lower severity where it shows.
Source: Gal and Ghahramani, Dropout as a Bayesian Approximation (2016), for the exception. Tolerances: the consistency
tests'.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_LEFT_ON = ("Dropout", "SpatialDropout", "GaussianDropout", "GaussianNoise", "AlphaDropout", "BatchNormalization")


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    tests = {test.id: test for test in (evidence.behaviour.tests if evidence.behaviour else ())}
    unsteady, stateful = tests.get("same-input-tolerance"), tests.get("same-after-others")
    test = next((item for item in (unsteady, stateful) if item is not None and item.passed is False), None)
    if test is None:
        return
    layer = evidence.connections.layers.get(test.layer)
    left_on = layer is not None and (layer.type.startswith(_LEFT_ON) or layer.type.startswith("Random"))
    yield Finding(
        fault=Fault.DETERMINISM,
        severity=Severity.HIGH if left_on or test is stateful else Severity.MEDIUM,
        confidence=0.9 if left_on else 0.6,
        where=test.layer or "model",
        message=f"{test.detail} {test.reason}".strip(),
        evidence=(Number("largest difference between runs", test.max_abs_diff or 0.0, threshold=0.0),),
        fix=Advice(
            text=f"Call {test.layer or 'the layer'} without training=True, so that it is still in use",
            snippet="x = layers.Dropout(0.5)(x)  # not layers.Dropout(0.5)(x, training=True)",
        ),
    )


CHECK = Check(needs=frozenset({Evidence.BEHAVIOUR}), run=_run, uses=frozenset({Evidence.ARCHITECTURE}))
