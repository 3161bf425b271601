"""The loss grows.

Why: each update leads further away from a solution. Usually the rate is too large for the size of inputs or targets.
Example: `SGD(1.0)` on inputs in the thousands.
Fix: a smaller rate or scaled data, whichever the trials show to work.
Source: AUTOTRAINER (ICSE 2021): loss above 1e3 after the start; the factor 1.5 over the start is ours.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.curves.pictures import curve
from stethoscope.curves.remedies import CLEARLY_WORKS, NOTHING_LEARNED
from stethoscope.curves.run_quality import learned_share
from stethoscope.curves.shapes import end_level, finite, runs_away, start_level
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.findings import Fault, Finding, Number, Severity
from stethoscope.fixes.advice import Advice
from stethoscope.fixes.fix import Fix
from stethoscope.fixes.set_learning_rate import SetLearningRate


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    found = [one for one in evidence.curves if len(finite(one.loss)) >= 4]
    away = [one for one in found if runs_away(one.loss)]
    if not away or len(away) * 2 <= len(found):
        return
    one = away[0]
    learned = learned_share(evidence, one)
    if learned is not None and learned >= CLEARLY_WORKS:
        return
    start, end = start_level(one.loss), end_level(one.loss)
    training = evidence.training
    fix: Fix = Advice(
        text="Divide the learning rate by 10, and scale inputs and targets to a mean of 0 and a deviation of 1."
    )
    if training is not None and training.learning_rate:
        fix = SetLearningRate(training.learning_rate / 10, was=training.learning_rate, optimizer=training.optimizer)
    broken = len(finite(one.loss)) < len(one.loss)
    yield Finding(
        check_id=CHECK.id,
        fault=Fault.LEARNING_RATE,
        severity=Severity.HIGH if broken or (learned is not None and learned <= NOTHING_LEARNED) else Severity.MEDIUM,
        confidence=0.5,
        where="loss",
        message=(
            f"The loss grows from {start:.4g} to {'NaN or infinity' if broken else format(end, '.4g')} in "
            f"{one.steps[-1] if one.steps else len(one.loss):,.0f} {one.unit}s. Most often the learning rate is too large for "
            "the size of the data."
        ),
        evidence=(
            curve(one),
            Number("loss at the end over loss at the start", end / start if start else end, threshold=1.5),
        ),
        fix=fix,
    )


CHECK = Check(
    id="loss-diverging",
    title="The loss grows",
    needs=frozenset(),
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    explains=frozenset({"loss-oscillating"}),
    symptom=True,
)
