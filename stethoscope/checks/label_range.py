"""Class numbers outside 0 … units − 1.

Why: a sparse loss uses the class number as the position of a unit, counted from 0. On a CPU, TensorFlow stops at a label
outside; on a GPU the loss becomes NaN without a word.
Example: classes numbered 1, 2, 3 for `Dense(3, activation="softmax")`; labels −1 and 1; numbers with gaps (0, 5, 9).
Fix: number the classes 0, 1, 2 … without gaps.
Limits: more classes than units is a matter of units (output-units). Labels from 1 with one spare unit work: low.
Source: tensorflow.org, tf.nn.sparse_softmax_cross_entropy_with_logits, “labels”; measured on TensorFlow 2.21.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.losses import SPARSE_LOSSES
from stethoscope.checks.check import NOTHING_FITTED, Check
from stethoscope.checks.findings import Bars, EvidenceItem, Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.values import EncodeLabels
from stethoscope.checks.judging.contract import one_per_row, values_of
from stethoscope.evidence.kinds import Evidence, EvidenceSet


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for head in evidence.heads:
        target = head.target
        if target is None or head.loss not in SPARSE_LOSSES or not head.units or head.softmax_units == 1:
            continue
        low, high = target.array.minimum, target.array.maximum
        if (
            low is None
            or high is None
            or not target.array.integral
            or target.kind in ("one-hot", "distribution", "multi-hot")
        ):
            continue
        values = values_of(target)
        if (values and len(values) > head.units) or (head.units == 1 and head.task == "binary"):
            continue
        ignored = head.loss_config.get("ignore_class")
        outside = low < 0 or high >= head.units
        if ignored is not None and all(0 <= value < head.units or value == ignored for value in values or (low, high)):
            continue
        spare = not outside and low == 1 and high == head.units - 1 and one_per_row(target) and len(values) > 1
        if not outside and not spare:
            continue
        wrong = high if high >= head.units else low
        items: tuple[EvidenceItem, ...] = (Number("label out of range", wrong, threshold=head.units - 1),)
        if 0 < len(values) <= 50 and len(values) == len(target.class_counts):
            items = (
                Bars(
                    "Labels",
                    "rows",
                    tuple(f"{value:g}" for value in values),
                    tuple(float(count) for count in target.class_counts),
                    (Mark(0.0, f"allowed: 0 … {head.units - 1}"),),
                ),
                *items,
            )
        yield Finding(
            fault=Fault.LABELS,
            severity=Severity.CRITICAL if outside else Severity.LOW,
            confidence=0.97 if outside else 0.6,
            where=f"target:{head.output}",
            message=(
                f"The labels go from {low:g} to {high:g}, but {head.loss} over {head.units} units only knows 0 … "
                f"{head.units - 1}: fit stops at label {wrong:g} (on a GPU the loss becomes NaN). Number the classes from 0."
                if outside
                else f"The labels start at 1, so unit 0 of the {head.units} units never occurs. Number the classes from 0."
            ),
            evidence=items,
            fix=EncodeLabels(head.output, "zero-based", classes=len(values) or None),
        )


CHECK = Check(
    title="Class numbers outside the output's units",
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.DATA}),
    run=_run,
    uses=frozenset({Evidence.FIT}),
    explains=NOTHING_FITTED
    | {"initial-loss", "loss-diverging", "nonfinite-training", "underfitting", "worse-than-baseline"},
)
