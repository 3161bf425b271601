"""Rows sorted by label, and split or trained in that order.

Why: `validation_split` takes the last rows as they stand, before any shuffling. When rows are sorted by class, the
last rows are classes that training never sees: training looks perfect and validation hopeless. With `shuffle=False`,
each batch holds one class, and the model forgets the last one with every step.
Example: images read folder by folder, then `fit(x, y, validation_split=0.2)`.
Fix: shuffle once before fit (inputs and labels by the same permutation), or leave `shuffle` at True.
Thresholds: a class with all its rows in the tail, which random order would do with a probability below 1 in 1,000;
labels that change at most twice as often as there are classes; for numbers, a rank correlation of 0.99 with the row number.
Source: keras.io, Model.fit, argument validation_split; stackoverflow.com/questions/56103207; Bengio, Practical
recommendations (2012), section 3.1.2, on shuffling.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import LITTLE_LEARNED, Check
from stethoscope.checks.findings import Fault, Finding, Number, Severity, Table
from stethoscope.checks.fixes.compile_and_fit import SetShuffle
from stethoscope.checks.fixes.rows import ShuffleBeforeSplit
from stethoscope.data.study.profiles import TargetProfile
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.training import TrainingEvidence

_BY_CHANCE = 1e-3
_IN_ORDER = 0.99
_APART = 0.3
"""Difference of training and validation skill that shows a split by position to matter."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    data, fit = evidence.data, evidence.fit
    if data is None or fit is None:
        return
    for name, target in data.targets.items():
        found = False
        if fit.validation_split:
            for finding in _split(evidence, name, target, fit.validation_split):
                found = True
                yield finding
        if not fit.shuffled and not found and sorted_by_class(target) and target.array.rows > fit.batch:
            yield _unshuffled(evidence, name, target)


def sorted_by_class(target: TargetProfile) -> bool:
    """Whether rows of a class lie together: labels change at most twice as often as there are classes less one."""
    present = sum(1 for count in target.class_counts if count)
    if target.neighbour_equality is None or present < 2 or target.array.rows < 4 * present:
        return False
    changes = (1 - target.neighbour_equality) * (target.array.rows - 1)
    return changes <= 2 * (present - 1) + 0.5


def _split(evidence: EvidenceSet, name: str, target: TargetProfile, share: float) -> Iterator[Finding]:
    rows = target.array.rows
    start = int(rows * (1 - share))
    never = [
        index
        for index, (count, first) in enumerate(zip(target.class_counts, target.first_row, strict=False))
        if count and first >= start and share**count < _BY_CHANCE
    ]
    numbers = _scores(evidence.training)
    if target.kind in ("binary", "classes", "one-hot") and never:
        listed = ", ".join(f"{target.class_values[index]:g}" for index in never[:8])
        plural = "classes" if len(never) > 1 else "class"
        table = tuple(
            (f"{value:g}", count, first, last)
            for value, count, first, last in zip(
                target.class_values, target.class_counts, target.first_row, target.last_row, strict=False
            )
        )
        yield Finding(
            fault=Fault.VALIDATION,
            severity=Severity.HIGH,
            confidence=0.95,
            where="fit",
            message=(
                f"The rows are sorted by class, and validation_split={share:g} takes the last {rows - start:,} of {rows:,} "
                f"as they stand: {plural} {listed} of {name} {'are' if len(never) > 1 else 'is'} never trained on."
            ),
            evidence=(
                Table("Where each class lies", ("class", "rows", "first row", "last row"), table[:40]),
                Number("first validation row", start),
                *numbers,
            ),
            fix=ShuffleBeforeSplit(validation_split=share),
        )
        return
    blocks = sorted_by_class(target)
    ordered = abs(target.order_correlation or 0.0) >= _IN_ORDER and target.kind == "continuous" and rows >= 20
    if not (ordered or blocks):
        return
    apart = blocks or _gap(evidence.training) >= _APART
    what = "by class" if blocks else f"by {name} (rank correlation {target.order_correlation:.3f})"
    yield Finding(
        fault=Fault.VALIDATION,
        severity=Severity.HIGH if apart else Severity.MEDIUM,
        confidence=0.9 if blocks else 0.85 if apart else 0.6,
        where="fit",
        message=(
            f"The rows are sorted {what}, and validation_split={share:g} takes the last {rows - start:,} of {rows:,} as "
            "they stand: validation rows are of another kind than training rows."
        ),
        evidence=(Number("rank correlation with the row number", target.order_correlation or 0.0), *numbers),
        fix=ShuffleBeforeSplit(validation_split=share),
    )


def _unshuffled(evidence: EvidenceSet, name: str, target: TargetProfile) -> Finding:
    training = evidence.training
    harmed = training is not None and training.complete and training.skill < 0.5
    equality = target.neighbour_equality or 0.0
    return Finding(
        fault=Fault.DATA,
        severity=Severity.HIGH if harmed else Severity.MEDIUM,
        confidence=0.9 if harmed else 0.75,
        where="fit",
        message=(
            f"The rows are sorted by class of {name} and shuffle=False keeps them so: each batch holds one class, and what "
            "was learned of the others is undone."
        ),
        evidence=(
            Number("neighbouring rows of the same class", equality, threshold=target.expected_equality),
            *_scores(training),
        ),
        fix=SetShuffle(shuffle=True),
    )


def _scores(training: TrainingEvidence | None) -> tuple[Number, ...]:
    if training is None or not training.base:
        return ()
    final = training.base[0].final
    found = [Number(f"{training.score_title} on training rows", final.score)]
    if final.val_score is not None:
        found.append(Number(f"{training.score_title} on validation rows", final.val_score))
    return tuple(found)


def _gap(training: TrainingEvidence | None) -> float:
    if training is None:
        return 0.0
    gaps = [run.final.skill - run.final.val_skill for run in training.base if run.final.val_skill is not None]
    return sum(gaps) / len(gaps) if gaps else 0.0


CHECK = Check(
    title="Sorted rows are split or trained in order",
    needs=frozenset({Evidence.DATA, Evidence.FIT}),
    run=_run,
    uses=frozenset({Evidence.TRAINING}),
    explains=LITTLE_LEARNED
    | {
        "batch-size",
        "learning-rate-high",
        "learning-rate-low",
        "loss-diverging",
        "loss-jump",
        "loss-oscillating",
        "overfitting",
        "overtraining",
        "per-class-error",
        "too-few-epochs",
        "underfitting",
        "validation-better",
        "validation-gap",
    },
)
