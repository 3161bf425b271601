"""One class outnumbers another many times.

Why: always answering the common class is then nearly always right, and the loss is content with it. Accuracy looks
excellent while the rare class, usually the one that matters, is never found.
Example: 65 healthy rows for each sick one, judged by accuracy.
Fix: weigh the classes (`class_weight`), and judge by recall, precision or AUC instead of accuracy.
Thresholds: 10 to 1. LOW by itself; MEDIUM from 20 to 1 while nothing is known of how the classes are learned; HIGH when
the short training never finds the rare class; nothing when it does.
Source: Amazon SageMaker Debugger, rule ClassImbalance (10 to 1); He and Garcia, Learning from imbalanced data (2009).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Bars, Fault, Finding, Number, Severity
from stethoscope.checks.fixes.values import ClassWeights
from stethoscope.data.study.profiles import TargetProfile
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_RATIO, _STRONG = 10.0, 20.0
_MOST_CLASSES = 100
_ENOUGH = 5
"""Rows of the rare class below which its recall says nothing."""
_NEVER, _ALWAYS = 0.1, 0.9
_FOUND = 0.6


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    data = evidence.data
    if data is None:
        return
    for name, target in data.targets.items():
        if target.kind not in ("binary", "classes", "one-hot") or not 2 <= target.class_count <= _MOST_CLASSES:
            continue
        counts = [count for count in target.class_counts if count]
        heads = [head for head in evidence.heads if head.output == name]
        if len(counts) < 2 or sum(counts) < 50 or (heads and heads[0].task == "regression"):
            continue
        ratio = max(counts) / min(counts)
        if ratio < _RATIO:
            continue
        rare, common = target.class_counts.index(min(counts)), target.class_counts.index(max(counts))
        severity, confidence, sentence, numbers = _learned(evidence, rare, common, ratio)
        if severity is None:
            continue
        labels = tuple(f"{value:g}" for value in target.class_values)
        yield Finding(
            fault=Fault.DATA,
            severity=severity,
            confidence=confidence,
            where=f"target:{name}",
            message=(
                f"{name} has {max(counts):,} rows of class {labels[common]} and {min(counts):,} of class {labels[rare]} "
                f"({ratio:,.0f} to 1). {sentence}"
            ),
            evidence=(
                Bars(
                    f"Rows of each class of {name}",
                    "rows",
                    labels,
                    tuple(float(count) for count in target.class_counts),
                ),
                Number("most common over rarest class", ratio, threshold=_RATIO),
                *numbers,
            ),
            fix=ClassWeights(weights=_weights(target)),
        )


def _learned(
    evidence: EvidenceSet, rare: int, common: int, ratio: float
) -> tuple[Severity | None, float, str, tuple[Number, ...]]:
    always = "A model that never answers the rare class is right almost always."
    training = evidence.training
    recall = training.per_class_recall if training is not None and training.complete else ()
    if training is None or max(rare, common) >= len(recall) or training.per_class_count[rare] < _ENOUGH:
        return (Severity.MEDIUM if ratio >= _STRONG else Severity.LOW), 0.5, always, ()
    numbers = (
        Number("recall of the rare class", recall[rare], threshold=_NEVER),
        Number("recall of the common class", recall[common]),
    )
    if recall[rare] <= _NEVER and recall[common] >= _ALWAYS:
        return Severity.HIGH, 0.85, f"The trained model finds {recall[rare]:.0%} of the rare class.", numbers
    if recall[rare] < min(_FOUND, recall[common] / 2):
        return Severity.MEDIUM, 0.7, f"The trained model finds only {recall[rare]:.0%} of the rare class.", numbers
    return None, 0.0, "", ()


def _weights(target: TargetProfile) -> tuple[float, ...]:
    """rows / (classes · rows of the class), as scikit-learn's class_weight="balanced"."""
    total = sum(target.class_counts)
    present = sum(1 for count in target.class_counts if count)
    return tuple(round(total / (present * count), 4) if count else 1.0 for count in target.class_counts)


CHECK = Check(
    title="One class outnumbers another",
    needs=frozenset({Evidence.DATA}),
    run=_run,
    uses=frozenset({Evidence.TRAINING, Evidence.ARCHITECTURE, Evidence.FIT}),
    explains=frozenset({"per-class-error", "constant-output"}),
)
