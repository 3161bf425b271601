"""A column that gives the answer away.

Why: a column made from the label, or only known after it, makes every model perfect on the data and useless in use.
Example: a column `repaid_on` when predicting whether a loan is repaid; the label left among the features.
Fix: leave the column out, unless it is known at the time of predicting.
Thresholds: exactly one column of at least five that tells the label without error in 50 rows or more: LOW, and MEDIUM when
it is a copy (as many different values as classes, or a correlation of 1). That a simple rule exists is no proof of a leak.
Source: Kaufman, Rosset and Perlich, Leakage in data mining (2012); deepchecks, FeatureLabelCorrelation.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.rows import DropFeatures
from stethoscope.data.study.profiles import DataEvidence, TargetProfile
from stethoscope.evidence.input_route import input_route
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_PERFECT = 0.999999
_ROWS, _COLUMNS = 50, 5


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    data = evidence.data
    if data is None:
        return
    for name, target in data.targets.items():
        best = target.best_single_feature
        if best is None or best[1] < _PERFECT or target.perfect_features != 1 or target.array.rows < _ROWS:
            continue
        place = _column(data, best[0])
        if place is None:
            continue
        input_name, column = place
        if evidence.architecture is not None and input_route(evidence.architecture, input_name).looked_up:
            continue
        copy = _is_copy(data, input_name, column, target)
        how = "is a copy of the label" if copy else "alone tells the label without error"
        yield Finding(
            fault=Fault.DATA,
            severity=Severity.MEDIUM if copy else Severity.LOW,
            confidence=0.7 if copy else 0.4,
            where=f"input:{input_name}",
            message=f"Column {column} of input {input_name} {how} of {name}. Will it be known when predicting?",
            evidence=(Number("accuracy or correlation of that column alone", best[1], threshold=_PERFECT),),
            fix=DropFeatures(columns=(column,), input=input_name if len(data.inputs) > 1 else ""),
        )


def _column(data: DataEvidence, number: int) -> tuple[str, int] | None:
    """The input and column behind a column number that runs on over all inputs; None in tables too narrow to tell."""
    widths = {name: array.shape[1] if len(array.shape) > 1 else 1 for name, array in data.inputs.items()}
    if sum(widths.values()) < _COLUMNS:
        return None
    for name, width in widths.items():
        if number < width:
            return name, number
        number -= width
    return None


def _is_copy(data: DataEvidence, name: str, column: int, target: TargetProfile) -> bool:
    if target.class_count == 0:
        return True
    features = data.inputs[name].features
    return features is not None and bool(features.distinct) and features.distinct[column] == target.class_count


CHECK = Check(
    title="A column gives the answer away",
    needs=frozenset({Evidence.DATA}),
    run=_run,
    uses=frozenset({Evidence.ARCHITECTURE}),
)
