"""The loss grows.

Why: each update leads further away from a solution. Usually the rate is too large for the size of inputs or targets.
Example: `SGD(1.0)` on inputs in the thousands.
Fix: a smaller rate or scaled data, whichever the trials show to work.
Limits: of a log, a loss that leaves its lowest level for good counts too; a single sudden rise is a jump, not this.
Source: AUTOTRAINER (ICSE 2021): loss above 1e3 after the start; the factor 1.5 over the start is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.curves.log_pictures import curve, losses_of, lower_rate, span
from stethoscope.checks.curves.log_shape import LogShape, learned_share, shape_of, smoothed
from stethoscope.checks.curves.remedies import CLEARLY_WORKS, NOTHING_LEARNED
from stethoscope.checks.curves.shapes import end_level, finite, runs_away, slope, start_level
from stethoscope.checks.findings import Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.compile_and_fit import SetLearningRate
from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.curves import CurveEvidence

_ADVICE = "Divide the learning rate by 10, and scale inputs and targets to a mean of 0 and a deviation of 1."
_LEFT = 0.5
"""Share of what the loss had gained that it must lose again before a log counts as diverging."""
_EXPLODES = 100.0


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.logs is not None:
        yield from _of_log(evidence, evidence.logs)
        return
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
    fix: Fix = Advice(text=_ADVICE)
    if training is not None and training.learning_rate:
        fix = SetLearningRate(training.learning_rate / 10, was=training.learning_rate, optimizer=training.optimizer)
    broken = len(finite(one.loss)) < len(one.loss)
    yield Finding(
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


def _of_log(evidence: EvidenceSet, curve: CurveEvidence) -> Iterator[Finding]:
    shape = shape_of(curve)
    if len(shape.loss) < 4 or not (runs_away(shape.loss) or _leaves(shape)):
        return
    smooth = smoothed(shape.loss)
    low = min(range(len(smooth)), key=smooth.__getitem__)
    explodes = max(shape.loss[low:]) > _EXPLODES * max(abs(shape.start), 1e-12)
    learned = learned_share(evidence, curve)
    # A score that is still good hides a growing loss for a while, but not one without bounds.
    if learned is not None and learned >= CLEARLY_WORKS and not explodes:
        return
    broken = len(finite(curve.loss)) < len(curve.loss)
    rising = len(shape.rates) > 1 and shape.rates[-1] > 3 * shape.rates[0]
    rate = f" The learning rate grows from {shape.rates[0]:.3g} to {shape.rates[-1]:.3g}." if rising else ""
    step = shape.points[low][0]
    yield Finding(
        fault=Fault.LEARNING_RATE,
        severity=Severity.HIGH if broken or explodes or learned == 0.0 else Severity.MEDIUM,
        confidence=0.6 if explodes or rising else 0.5,
        where="loss",
        title="The loss explodes" if explodes else "",
        message=(
            f"The loss {'explodes' if explodes else 'grows'}: it starts at {shape.start:.4g}, is lowest at {curve.unit} {step:,.0f} "
            f"({smooth[low]:.4g}) and {'no number' if broken else format(shape.end, '.4g')} at the end.{rate} Most often the "
            "learning rate is too large for the size of the data."
        ),
        evidence=(
            losses_of(curve, Mark(step, "grows from here")),
            Number(
                "loss at the end over loss at the start",
                shape.end / shape.start if shape.start else shape.end,
                threshold=1.5,
            ),
        ),
        fix=lower_rate(shape, 10, _ADVICE),
        marks=span(curve, "loss", step, "the loss grows", curve.steps[-1]),
    )


def _leaves(shape: LogShape) -> bool:
    """Whether the loss turns and rises for good, not in one jump, by half of what it had gained."""
    smooth = smoothed(shape.loss)
    low = min(range(len(smooth)), key=smooth.__getitem__)
    after = smooth[low:]
    rise, depth = shape.end - smooth[low], shape.start - smooth[low]
    if len(after) < max(4, len(smooth) // 10) or rise < max(_LEFT * depth, 5 * shape.jitter):
        return False
    step = max(later - earlier for earlier, later in itertools.pairwise(shape.loss[low:]))
    return slope(after) > 0 and step < 0.6 * rise and shape.end > 1.2 * abs(smooth[low])


CHECK = Check(
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    explains=frozenset({"loss-oscillating"}),
    symptom=True,
)
