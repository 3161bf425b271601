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
from stethoscope.curves.pictures import curve
from stethoscope.curves.remedies import NOTHING_LEARNED, base_skill
from stethoscope.curves.run_quality import is_accuracy
from stethoscope.curves.shapes import finite
from stethoscope.evidence.curves import CurveEvidence
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.findings import Fault, Finding, Number, Severity
from stethoscope.fixes.advice import Advice

_ZERO = 1e-6
"""Below what a 32-bit cross-entropy can still tell from 0."""
_WRONG = 0.9


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    zero = [one for one in evidence.curves if len(one.loss) >= 2 and all(abs(value) < _ZERO for value in one.loss[-3:])]
    if not zero or len(zero) < len(evidence.curves):
        return
    score, name = _score(evidence, zero[0])
    if score is None or score >= _WRONG:
        return
    if zero[0].source == "short run" and evidence.training and base_skill(evidence.training) > NOTHING_LEARNED:
        return
    yield Finding(
        check_id=CHECK.id,
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
        fix=Advice(
            text=(
                "Look at the labels as `fit` gets them: one column per output unit for categorical cross-entropy and each "
                "row with a single 1; whole numbers from 0 for the sparse one; a single unit needs sigmoid and binary "
                "cross-entropy."
            ),
        ),
    )


def _score(evidence: EvidenceSet, found: CurveEvidence) -> tuple[float | None, str]:
    training = evidence.training
    if found.source == "short run" and training is not None and training.base:
        known = finite([run.final.score for run in training.base])
        return (known[0] if known else None), training.score_name
    metric = finite(found.metric)
    return (metric[-1] if metric and is_accuracy(found.metric_name) else None), found.metric_name


CHECK = Check(
    id="loss-zero",
    title="The loss is zero while predictions are wrong",
    needs=frozenset(),
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    explains=frozenset({"loss-flat", "unchanged-weights", "constant-output"}),
    symptom=True,
)
