"""The loss is zero while the predictions are wrong.

Why: a loss of zero says that nothing is left to learn, so no weight moves. When predictions are no better than chance,
loss and labels do not fit together, or the labels are empty.
Example: categorical cross-entropy over one unit; label rows that hold only zeros.
Fix: labels and loss that fit each other.
Source: SageMaker Debugger, rule AllZero; DeepDiagnosis (ICSE 2022), symptom “zero loss”.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.curves.log_pictures import curve, losses_of, span
from stethoscope.checks.curves.log_shape import shape_of
from stethoscope.checks.curves.remedies import NOTHING_LEARNED, base_skill
from stethoscope.checks.curves.shapes import finite
from stethoscope.checks.findings import Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.better import is_share
from stethoscope.logs.curves import CurveEvidence

_ZERO = 1e-6
"""Below what a 32-bit cross-entropy can still tell from 0."""
_WRONG = 0.9
_LEAST_POINTS = 3
_ADVICE = (
    "Look at the labels as `fit` gets them: one column per output unit for categorical cross-entropy and each row with a "
    "single 1; whole numbers from 0 for the sparse one; a single unit needs sigmoid and binary cross-entropy."
)


_FROM_THE_START = 0.9
"""Share of a log's points that are zero when there never was anything to learn."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.logs is not None:
        yield from _of_log(evidence.logs)
        return
    zero = [one for one in evidence.curves if len(one.loss) >= 2 and all(abs(value) < _ZERO for value in one.loss[-3:])]
    if not zero or len(zero) < len(evidence.curves):
        return
    score, name = _score(evidence, zero[0])
    if score is None or score >= _WRONG:
        return
    if evidence.training and base_skill(evidence.training) > NOTHING_LEARNED:
        return
    yield Finding(
        fault=Fault.LABELS,
        severity=Severity.HIGH,
        confidence=0.7,
        where="loss",
        message=(
            f"The loss is {zero[0].loss[-1]:.2g} while {name} is {score:.2f}: the loss sees nothing to correct, so nothing "
            "can be learned. Labels and loss do not fit together, or the labels are empty."
        ),
        evidence=(
            curve(zero[0]),
            Number("loss", zero[0].loss[-1], threshold=_ZERO),
            Number(name, score, threshold=_WRONG),
        ),
        fix=Advice(text=_ADVICE),
    )


def _score(evidence: EvidenceSet, found: CurveEvidence) -> tuple[float | None, str]:
    training = evidence.training
    if found.source == "short run" and training is not None and training.base:
        known = finite([run.final.score for run in training.base])
        return (known[0] if known else None), training.score_name
    metric = finite(found.metric)
    return (metric[-1] if metric and is_share(found.metric_name) else None), found.metric_name


def _of_log(curve: CurveEvidence) -> Iterator[Finding]:
    known = finite(curve.loss)
    if len(known) < _LEAST_POINTS or any(abs(value) >= _ZERO for value in known[-3:]):
        return
    shape = shape_of(curve)
    score = shape.score[-1] if shape.score else None
    nothing = sum(abs(value) < _ZERO for value in known) >= _FROM_THE_START * len(known)
    wrong = score is not None and score < _WRONG
    if not wrong and not nothing:
        return
    first = next(step for step, value in zip(curve.steps, curve.loss, strict=True) if abs(value) < _ZERO)
    if wrong:
        said = f"while {curve.metric_name} is {score:.2f}: the loss sees nothing to correct, so nothing can be learned"
    else:
        said = "from the start: there is nothing to learn"
    yield Finding(
        fault=Fault.LABELS,
        severity=Severity.MEDIUM if score is not None and not wrong else Severity.HIGH,
        confidence=0.7 if wrong else 0.6,
        where="loss",
        message=(
            f"The loss is {known[-1]:.2g} {said}. Labels and loss do not fit together, all labels are equal, or they are empty."
        ),
        evidence=(losses_of(curve, Mark(first, "zero")), Number("loss", known[-1], threshold=_ZERO)),
        fix=Advice(text=_ADVICE),
        marks=span(curve, "loss", first, "zero", curve.steps[-1]),
    )


CHECK = Check(
    title="The loss is zero while predictions are wrong",
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    explains=frozenset({"loss-flat", "unchanged-weights", "constant-output"}),
    symptom=True,
)
