"""Test or validation rows that are made differently from the training rows.

Why: a model knows only rows like those it was trained on. Training rows scaled to 0 … 1 and test rows left at 0 … 255,
or labels encoded otherwise, make evaluation meaningless, however good the model is.
Example: `x_train = x_train / 255` while `x_test` stays as loaded.
Fix: one function for all rows; fit scalers on the training rows and use them on the others.
Thresholds: a 5-fold difference in size is MEDIUM, 20-fold HIGH; a column whose mean is off by more than two of its
deviations is MEDIUM, one deviation LOW (at least 30 rows). Another shape or another kind of labels is HIGH.
Source: stackoverflow.com/questions/59325381; Sculley et al., Hidden technical debt (2015), on training/serving skew;
Cohen, Statistical power analysis (1988), on differences in deviations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Bars, EvidenceItem, Fault, Finding, Mark, Number, Severity, Table
from stethoscope.checks.fixes.fix import Advice
from stethoscope.data.study.profiles import ArrayProfile, DataEvidence
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_FOLD, _MANY_FOLD = 5.0, 20.0
_SHIFTED, _NOTED = 2.0, 1.0
_ENOUGH_ROWS = 30
_PREFIXES = ("test", "val")


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    data = evidence.data
    if data is None:
        return
    for part in _PREFIXES:
        for name, array in data.inputs.items():
            other = _other(data, "x", part, name, len(data.inputs))
            if other is not None:
                yield from _compared(array, other, f"input:{name}")
        for name, target in data.targets.items():
            other = _other(data, "y", part, name, len(data.targets))
            if other is not None:
                yield from _compared(target.array, other, f"target:{name}")


def _other(data: DataEvidence, letter: str, part: str, name: str, count: int) -> ArrayProfile | None:
    own = data.others.get(f"{letter}_{part}_{name.lower()}")
    return own or (data.others.get(f"{letter}_{part}") if count == 1 else None)


def _compared(array: ArrayProfile, other: ArrayProfile, where: str) -> Iterator[Finding]:
    labels = where.startswith("target:")
    if _row_shape(array) != _row_shape(other):
        yield _finding(
            array,
            other,
            where,
            Severity.HIGH,
            0.9,
            f"Rows of {other.name} have the shape {_row_shape(other)}, training rows {_row_shape(array)}.",
            (),
        )
        return
    if array.minimum is None or other.minimum is None or not array.rows or not other.rows:
        return
    size, other_size = _size(array), _size(other)
    if size == 0 or other_size == 0:
        return
    ratio = max(size, other_size) / min(size, other_size)
    span = (
        f"{other.name} goes from {other.minimum:,.4g} to {other.maximum or 0:,.4g}, "
        f"the training rows from {array.minimum:,.4g} to {array.maximum or 0:,.4g}"
    )
    if ratio >= _FOLD and other.rows >= 5:
        severity = Severity.HIGH if ratio >= _MANY_FOLD else Severity.MEDIUM
        text = f"{span}: they are not scaled alike, so what is measured on {other.name} says nothing about the model."
        confidence = 0.9 if ratio >= _MANY_FOLD else 0.6
        yield _finding(
            array, other, where, severity, confidence, text, (Number("ratio of sizes", ratio, threshold=_FOLD),)
        )
        return
    if labels or min(array.rows, other.rows) < _ENOUGH_ROWS:
        return
    shifts = _shifts(array, other)
    largest = max(shifts, default=0.0)
    if largest < _NOTED:
        return
    column = shifts.index(largest)
    what = f"Column {column} of {other.name}" if len(shifts) > 1 else other.name
    text = f"{what} lies {largest:.1f} deviations from where the training rows lie: the rows are of another kind."
    items: tuple[EvidenceItem, ...] = (Number("shift of the mean in deviations", largest, threshold=_NOTED),)
    if 1 < len(shifts) <= 64:
        names = tuple(str(index) for index in range(len(shifts)))
        items += (Bars("Shift of each column", "deviations", names, tuple(shifts), (Mark(_SHIFTED, "large"),)),)
    severity = Severity.MEDIUM if largest >= _SHIFTED else Severity.LOW
    yield _finding(array, other, where, severity, 0.5, text, items)


def _finding(
    array: ArrayProfile,
    other: ArrayProfile,
    where: str,
    severity: Severity,
    confidence: float,
    text: str,
    items: tuple[EvidenceItem, ...],
) -> Finding:
    labels = where.startswith("target:")
    table = Table(
        "Training rows beside the others",
        ("array", "shape", "minimum", "maximum", "mean", "deviation"),
        tuple((one.name, str(one.shape), one.minimum, one.maximum, one.mean, one.std) for one in (array, other)),
    )
    snippet = (
        "def prepare(rows):\n    return rows.astype('float32') / 255  # whatever the training rows went through\n\n"
        f"x, {other.name} = prepare(x), prepare({other.name})"
    )
    return Finding(
        fault=Fault.LABELS if labels else Fault.PREPROCESSING,
        severity=severity,
        confidence=confidence,
        where=where,
        message=text,
        evidence=(*items, table),
        fix=Advice(text=f"Make {other.name} in exactly the way the training rows are made.", snippet=snippet),
    )


def _row_shape(array: ArrayProfile) -> tuple[int, ...]:
    """The shape of a row; one value in its own axis counts as one value."""
    return () if array.shape[1:] == (1,) else array.shape[1:]


def _size(array: ArrayProfile) -> float:
    return math.hypot(array.mean or 0.0, array.std or 0.0)


def _shifts(array: ArrayProfile, other: ArrayProfile) -> list[float]:
    one, two = array.features, other.features
    if one is None or two is None or len(one.mean) != len(two.mean):
        spread = array.std or 0.0
        return [abs((array.mean or 0.0) - (other.mean or 0.0)) / spread] if spread > 0 else []
    return [
        abs(mean - second) / std if std > 0 and math.isfinite(second) else 0.0
        for mean, second, std in zip(one.mean, two.mean, one.std, strict=True)
    ]


CHECK = Check(
    title="Test rows are made differently",
    needs=frozenset({Evidence.DATA}),
    run=_run,
    explains=frozenset({"overfitting", "validation-gap", "validation-better"}),
)
