"""Equal inputs with different labels.

Why: a model gives equal rows the same answer, so of two equal rows with different labels one is always counted wrong.
Their share bounds the accuracy that is possible.
Example: rows labelled by two people; a column that told them apart was left out; inputs and labels read in different order.
Fix: look at such rows: correct the labels, bring back the missing column, or accept the bound.
Thresholds: 1 % of the rows: LOW. 20 % in tables whose rows could all be different: MEDIUM.
Source: deepchecks, ConflictingLabels; Northcutt, Athalye and Mueller, Pervasive label errors (NeurIPS 2021).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.duplicate_rows import roomy
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_NOTED, _MANY = 0.01, 0.2
_SNIPPET = """\
rows, first, group = np.unique(x.reshape(len(x), -1), axis=0, return_index=True, return_inverse=True)
conflicting = np.flatnonzero((y != y[first][group.ravel()]).reshape(len(y), -1).any(axis=1))
print(conflicting[:20])"""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    data = evidence.data
    if data is None:
        return
    for name, target in data.targets.items():
        rows = target.array.rows
        share = target.conflicting_duplicates / max(1, rows)
        if target.kind not in ("binary", "classes", "one-hot") or rows < 20 or share < _NOTED:
            continue
        surprising = all(roomy(array) for array in data.inputs.values())
        yield Finding(
            fault=Fault.LABELS,
            severity=Severity.MEDIUM if share >= _MANY and surprising else Severity.LOW,
            confidence=0.6 if surprising else 0.4,
            where=f"target:{name}",
            message=(
                f"{target.conflicting_duplicates:,} of {rows:,} rows have the same input as an earlier row but another "
                f"label in {name}: no model can get them all right."
            ),
            evidence=(Number("share of conflicting rows", share, threshold=_MANY),),
            fix=Advice(text="Look at the rows whose inputs are equal and whose labels differ.", snippet=_SNIPPET),
        )


CHECK = Check(needs=frozenset({Evidence.DATA}), run=_run, explains=frozenset({"fit-small-batch", "underfitting"}))
