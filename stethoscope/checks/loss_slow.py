"""The loss falls very slowly.

Why: at this pace the epochs end long before the network is done: rate too small, too few epochs, or badly scaled inputs.
Example: `Adam(1e-6)`: after 20 epochs the loss has fallen by 2 %.
Fix: a larger rate, tried first at ten times the present one.
Limits: a curve alone cannot tell which of the causes holds; with data, the trials of the short run can.
Source: AUTOTRAINER (ICSE 2021), “slow convergence”. Thresholds: ours.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.curves.pictures import curve
from stethoscope.curves.remedies import CLEARLY_WORKS
from stethoscope.curves.run_quality import learned_share
from stethoscope.curves.shapes import end_level, fall, finite, is_flat, start_level, still_falling
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.findings import Fault, Finding, Number, Severity
from stethoscope.fixes.advice import Advice
from stethoscope.fixes.fix import Fix
from stethoscope.fixes.set_learning_rate import SetLearningRate

_LEAST_POINTS = 8
_LITTLE = 0.2
"""A loss that has lost less than this share of its start …"""
_EVEN = 0.2
"""… and loses at least this share of all it lost in its last third, is still on its way."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    found = [one for one in evidence.curves if len(finite(one.loss)) >= _LEAST_POINTS and one.complete]
    slow = [
        one
        for one in found
        if 0 < fall(one.loss) < _LITTLE and still_falling(one.loss, _EVEN) and not is_flat(one.loss, 0.005)
    ]
    if not slow or len(slow) * 2 <= len(found):
        return
    one = slow[0]
    learned = learned_share(evidence, one)
    if learned is not None and learned >= CLEARLY_WORKS:
        return
    training = evidence.training
    rate = one.learning_rate[-1] if one.learning_rate else (training.learning_rate if training is not None else None)
    optimizer = training.optimizer if training is not None else ""
    fix: Fix = Advice(text="Multiply the learning rate by 10 and see whether the loss falls faster; then train longer.")
    if rate:
        fix = SetLearningRate(rate * 10, was=rate, optimizer=optimizer)
    yield Finding(
        check_id=CHECK.id,
        fault=Fault.LEARNING_RATE,
        severity=Severity.LOW,
        confidence=0.4,
        where="loss",
        message=(
            f"The loss falls so slowly that {one.steps[-1]:,.0f} {one.unit}s take it from {start_level(one.loss):.4g} to "
            f"{end_level(one.loss):.4g} only, and it is still falling."
        ),
        evidence=(curve(one), Number("share of the loss that is gone", fall(one.loss), threshold=_LITTLE)),
        fix=fix,
    )


CHECK = Check(
    id="loss-slow",
    title="The loss falls very slowly",
    needs=frozenset(),
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    symptom=True,
)
