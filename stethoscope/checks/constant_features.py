"""Input columns that never change.

Why: a column with one value for every row tells nothing. One or two cost a few weights; when all are constant, the
input was lost on the way (a wrong path, a normalisation that divided by too much, an array never filled).
Example: `np.zeros((n, 8))` that the loop over files never wrote to.
Fix: leave such columns out; when all are constant, look at the code that makes the array.
The mask, segments and positions beside the ids of a text are the same in every row where no text is padded or has two parts:
no defect.
Thresholds: all columns: CRITICAL. At least half of them, in a table: MEDIUM. Fewer: LOW; not in images and other wide rows.
Source: scikit-learn, VarianceThreshold; Great Expectations and deepchecks have the same rule (IsSingleValue).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.findings import Fault, Finding, Number, Severity, Table
from stethoscope.checks.fixes.fix import Advice
from stethoscope.checks.fixes.rows import DropFeatures
from stethoscope.data.study.profiles import ArrayProfile
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_BESIDE_IDS = ("mask", "segment", "token_type", "type_id", "position")
_TABLE = 64
"""Wider rows are taken for pixels or counts, where constant columns (the corners of images) are usual."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    data = evidence.data
    if data is None:
        return
    for name, array in data.inputs.items():
        if array.rows < 2 or array.minimum is None or array.maximum is None:
            continue
        if _beside_ids(name, array, data.inputs):
            continue
        if array.minimum == array.maximum or _every_column(array):
            yield Finding(
                fault=Fault.DATA,
                severity=Severity.CRITICAL if len(data.inputs) == 1 else Severity.MEDIUM,
                confidence=0.95,
                where=f"input:{name}",
                message=f"All {array.rows:,} rows of input {name} are the same: there is nothing to learn from.",
                evidence=(Number("smallest value", array.minimum), Number("largest value", array.maximum)),
                fix=Advice(
                    text="Look at how the array is made: it holds the same values in every row.",
                    snippet="print(x[:3], x.std(axis=0))",
                ),
            )
            continue
        columns = array.constant_features
        width = array.shape[-1]
        if not columns or len(array.shape) != 2 or width > _TABLE:
            continue
        shown = tuple((str(column), _value(array, column)) for column in columns[:20])
        yield Finding(
            fault=Fault.DATA,
            severity=Severity.MEDIUM if len(columns) * 2 >= width else Severity.LOW,
            confidence=0.7,
            where=f"input:{name}",
            message=(
                f"{len(columns)} of the {width} columns of input {name} hold one value for every row and tell nothing: "
                f"{', '.join(str(column) for column in columns[:8])}{' …' if len(columns) > 8 else ''}."
            ),
            evidence=(Table("Constant columns", ("column", "value"), shown),),
            fix=DropFeatures(columns=columns, input=name if len(data.inputs) > 1 else ""),
        )


def _beside_ids(name: str, array: ArrayProfile, inputs: Mapping[str, ArrayProfile]) -> bool:
    """Whether it says something about the ids of another input: which count, of which sentence, at which place."""
    if not array.integral or not any(part in name.lower() for part in _BESIDE_IDS):
        return False
    return any(
        other.integral and other.shape == array.shape and other.minimum != other.maximum and not _every_column(other)
        for given, other in inputs.items()
        if given != name
    )


def _every_column(array: ArrayProfile) -> bool:
    if len(array.shape) != 2 or array.features is None:
        return False
    return len(array.constant_features) == array.shape[-1]


def _value(array: ArrayProfile, column: int) -> float | None:
    return array.features.minimum[column] if array.features is not None else array.minimum


CHECK = Check(
    needs=frozenset({Evidence.DATA}),
    run=_run,
    explains=BADLY_TRAINED | {"conflicting-labels", "dead-relu", "duplicate-rows", "fit-small-batch", "null-input"},
)
