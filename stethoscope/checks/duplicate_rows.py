"""Rows that repeat earlier rows.

Why: a row that is there ten times counts ten times, and when copies lie on both sides of a split, validation asks for
what training has already shown.
Example: two overlapping exports concatenated; oversampling before splitting.
Fix: leave out repeated rows before splitting; oversample after splitting, and only the training rows.
Thresholds: 10 % of the rows, in tables whose columns take many values: few different values repeat by themselves.
Source: deepchecks, DataDuplicates; Kapoor and Narayanan, Leakage and the reproducibility crisis (Patterns, 2023).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.rows import RemoveDuplicates
from stethoscope.data.study.profiles import ArrayProfile
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_SHARE = 0.1
_ROOMY = 10.0
"""So many times more different rows must be possible than there are rows for repeats to need a reason."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    data = evidence.data
    if data is None or len(data.inputs) != 1:
        return
    name, array = next(iter(data.inputs.items()))
    share = array.duplicate_rows / max(1, array.rows)
    if array.rows < 20 or share < _SHARE or not roomy(array) or len(array.constant_features) == array.shape[-1]:
        return
    split = evidence.fit is not None and bool(evidence.fit.validation_split)
    extra = (
        " Some of them land on both sides of validation_split, which makes validation look too good." if split else ""
    )
    yield Finding(
        fault=Fault.DATA,
        severity=Severity.LOW,
        confidence=0.6,
        where=f"input:{name}",
        message=f"{array.duplicate_rows:,} of {array.rows:,} rows of input {name} repeat an earlier row.{extra}",
        evidence=(Number("share of repeated rows", share, threshold=_SHARE),),
        fix=RemoveDuplicates(),
    )


def roomy(array: ArrayProfile) -> bool:
    """Whether the columns take so many values that equal rows do not come about by themselves."""
    if array.features is None or not array.features.distinct:
        return not array.distinct_values or len(array.distinct_values) > _ROOMY * array.rows
    room = sum(math.log(max(1, count)) for count in array.features.distinct)
    return room > math.log(_ROOMY * max(1, array.rows))


CHECK = Check(needs=frozenset({Evidence.DATA}), run=_run, uses=frozenset({Evidence.FIT}))
