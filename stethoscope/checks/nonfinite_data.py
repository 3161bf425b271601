"""NaN or infinity in the data.

Why: one NaN in a batch makes the loss NaN, the loss makes every gradient NaN, and after that step every weight is NaN:
the model is lost, however many good rows follow. Where relu turns NaN into 0, the loss stays a number and nothing is learned.
Example: a CSV with empty cells read by pandas; a logarithm of 0; a division by a column's deviation of 0.
Fix: leave such rows out when they are few, or fill them in, and keep what was filled for the rows predicted later.
Thresholds: any value is CRITICAL, MEDIUM when the short training was seen to learn all the same. Rows are dropped up to
5 % of them, else the gaps are filled.
Source: IEEE 754, section 6.2 (NaN propagates); Amazon SageMaker Debugger, rule NotANumber.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import NOTHING_FITTED, UNSTEADY_LOSS, Check
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.rows import DropRows, FillMissing
from stethoscope.data.study.profiles import ArrayProfile
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_FEW_ROWS = 0.05
_LEARNS = 0.3


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    data = evidence.data
    if data is None:
        return
    for name, array in data.inputs.items():
        yield from _found(evidence, array, f"input:{name}", f"Input {name}", used=True)
    for name, target in data.targets.items():
        yield from _found(evidence, target.array, f"target:{name}", f"The targets of {name}", used=True)
    for name, array in data.others.items():
        yield from _found(evidence, array, "data", f"Array {name}", used=False)


def _found(evidence: EvidenceSet, array: ArrayProfile, where: str, subject: str, used: bool) -> Iterator[Finding]:
    bad = array.nan + array.infinite
    if not bad:
        return
    survived = _survived(evidence)
    severity = Severity.CRITICAL
    if not used or survived:
        severity = Severity.MEDIUM
    rows = array.nan_rows or min(bad, array.rows)
    share = rows / max(1, array.rows)
    kinds = " and ".join(
        text
        for count, text in ((array.nan, f"{array.nan:,} NaN"), (array.infinite, f"{array.infinite:,} infinite values"))
        if count
    )
    end = "" if survived or not used else ": the first batch with one turns weights into NaN, and the model is lost"
    fills = where.startswith("input:") and share > _FEW_ROWS
    yield Finding(
        fault=Fault.DATA,
        severity=severity,
        confidence=1.0 if not survived else 0.6,
        where=where,
        message=f"{subject} holds {kinds} in about {rows:,} of {array.rows:,} rows{end}.",
        evidence=(Number("NaN", array.nan, threshold=0), Number("infinite", array.infinite, threshold=0)),
        fix=FillMissing() if fills else DropRows(),
    )


def _survived(evidence: EvidenceSet) -> bool:
    """Whether a training was seen to learn in spite of them. A finite loss is not enough: relu can turn NaN into 0."""
    training = evidence.training
    if training is None or not training.complete or training.skill < _LEARNS:
        return False
    return all(run.nonfinite_step is None for run in training.base)


CHECK = Check(
    needs=frozenset({Evidence.DATA}),
    run=_run,
    uses=frozenset({Evidence.TRAINING}),
    explains=UNSTEADY_LOSS
    | NOTHING_FITTED
    | {
        "exploding-gradient",
        "initial-loss",
        "learning-rate-high",
        "nonfinite-activations",
        "numerical-gradient",
        "per-class-error",
        "unchanged-weights",
        "underfitting",
        "worse-than-baseline",
    },
)
