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
from stethoscope.curves.log_pictures import higher_rate, losses_of, span
from stethoscope.curves.log_shape import falls_steadily, shape_of
from stethoscope.curves.pictures import curve
from stethoscope.curves.remedies import CLEARLY_WORKS
from stethoscope.curves.run_quality import learned_share
from stethoscope.curves.shapes import end_level, fall, finite, is_flat, start_level, still_falling
from stethoscope.evidence.curves import CurveEvidence
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.findings import Fault, Finding, Number, Severity
from stethoscope.fixes.advice import Advice
from stethoscope.fixes.fix import Fix
from stethoscope.fixes.set_learning_rate import SetLearningRate

_LEAST_POINTS = 8
_LEAST_OF_A_LOG = 6
_HARDLY = 0.02
_LITTLE = 0.2
"""A loss that has lost less than this share of its start …"""
_EVEN = 0.2
"""… and loses at least this share of all it lost in its last third, is still on its way."""


_STILL_POOR = 0.6


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.logs is not None:
        yield from _of_log(evidence.logs)
        return
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


def _of_log(curve: CurveEvidence) -> Iterator[Finding]:
    shape = shape_of(curve)
    if len(shape.loss) < _LEAST_OF_A_LOG or not shape.fall < _LITTLE or not falls_steadily(shape):
        return
    if shape.skill is not None and shape.skill >= _STILL_POOR:
        return
    factor = 100 if shape.fall < _HARDLY else 10
    yield Finding(
        check_id=CHECK.id,
        fault=Fault.LEARNING_RATE,
        severity=Severity.MEDIUM,
        confidence=0.6,
        where="loss",
        message=(
            f"The loss falls so slowly that {curve.steps[-1] - curve.steps[0]:,.0f} {curve.unit}s take it from "
            f"{shape.start:.4g} to {shape.end:.4g} only, and it falls as evenly at the end as at the start: the learning rate is "
            "too small for so short a training, or the data are badly scaled."
        ),
        evidence=(losses_of(curve), Number("share of the loss that is gone", shape.fall, threshold=_LITTLE)),
        fix=higher_rate(
            shape,
            factor,
            f"Multiply the learning rate by {factor} and see whether the loss falls faster; then train longer.",
        ),
        marks=span(curve, "loss", curve.steps[0], "falls very slowly", curve.steps[-1]),
    )


CHECK = Check(
    id="loss-slow",
    title="The loss falls very slowly",
    needs=frozenset(),
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    symptom=True,
)
