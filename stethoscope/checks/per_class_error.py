"""A class that is never right.

Why: a good average can hide a class that the model never finds: too rare, labelled inconsistently, or indistinguishable
from another with these inputs.
Example: accuracy 0.9 over ten classes, and recall 0 for the tenth.
Fix: look at the rows of that class; weigh it more; get more rows of it.
Thresholds: recall at most 0.1 with at least 10 rows, while the other classes are found at 0.6 or better: MEDIUM when the
class has rows enough not to be simply rare (a quarter of its even share), else LOW. Nothing while
epochs are missing, or below a skill of 0.3.
Source: Amazon SageMaker Debugger, rule Confusion; Buolamwini and Gebru, Gender Shades (2018), on averages that hide groups.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Bars, Fault, Finding, Mark, Severity
from stethoscope.checks.fixes.values import ClassWeights
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_NEVER, _OTHERS = 0.1, 0.6
_LEARNS = 0.3
_ROWS = 10
_EVEN_SHARE = 0.25


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    if training is None or len(training.per_class_recall) < 2 or not training.complete:
        return
    if training.skill < _LEARNS:
        return  # a model that answers one class for everything has another trouble
    recall, counts = training.per_class_recall, training.per_class_count
    known = [index for index, count in enumerate(counts) if count >= _ROWS]
    lost = [index for index in known if recall[index] <= _NEVER]
    found = [index for index in known if index not in lost]
    if not lost or not found or len(lost) > len(found):
        return
    others = sum(recall[index] for index in found) / len(found)
    if others < _OTHERS:
        return
    even = sum(counts) / max(1, sum(1 for count in counts if count))
    common = any(counts[index] >= _EVEN_SHARE * even for index in lost)
    names = tuple(str(index) for index in range(len(recall)))
    listed = ", ".join(names[index] for index in lost[:8])
    plural = "Classes" if len(lost) > 1 else "Class"
    weights = tuple(round(sum(counts) / (len(known) * count), 4) if count else 1.0 for count in counts)
    yield Finding(
        fault=Fault.DATA,
        severity=Severity.MEDIUM if common else Severity.LOW,
        confidence=0.5,
        where="data",
        message=(
            f"{plural} {listed} {'are' if len(lost) > 1 else 'is'} found in at most {_NEVER:.0%} of "
            f"{'their' if len(lost) > 1 else 'its'} rows, the others in {others:.0%}."
        ),
        evidence=(Bars("Share of each class that is found", "recall", names, recall, (Mark(_NEVER, "never"),)),),
        fix=ClassWeights(weights=weights),
    )


CHECK = Check(title="A class is never right", needs=frozenset({Evidence.TRAINING}), run=_run, symptom=True)
