"""Labels in another form than the loss reads.

Why: sparse losses read class numbers, categorical ones read one-hot rows, binary ones read 0 and 1. In another form
`fit` stops with a message about shapes, or, worse, runs and learns something else.
Example: one-hot rows with `sparse_categorical_crossentropy` (stops); labels −1 and 1 for a sigmoid (the loss falls below
0 without end); labels divided by 255 together with the pixels (all are cut to class 0, the loss goes to 0).
Fix: convert the labels, or use the loss that reads them as they are.
Source: keras.io/api/losses/probabilistic_losses; cases 58398491 and 59325381 on Stack Overflow; measured, docs/contract.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import SIGMOID
from stethoscope.architecture.losses import BINARY_LOSSES, REGRESSION_LOSSES, ROW_LOSSES, SPARSE_LOSSES
from stethoscope.checks.check import BADLY_TRAINED, IDLE_WEIGHTS, UNSTEADY_LOSS, Check
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.compile_and_fit import ReplaceLoss
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.values import EncodeLabels
from stethoscope.checks.judging.contract import as_shape, one_per_row, scaled_factor, two_valued_rows, two_values
from stethoscope.data.study.profiles import TargetProfile
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import Evidence, EvidenceSet


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for head in evidence.heads:
        if head.target is None or not head.loss or head.softmax_units == 1:
            continue
        found = _wrong(head, head.target)
        if found is None:
            continue
        severity, message, fix = found
        values = head.target.array.distinct_values
        shown = ", ".join(f"{value:g}" for value in values[:8]) + (" …" if len(values) > 8 else "")
        yield Finding(
            fault=Fault.LABELS,
            severity=severity,
            confidence=0.95,
            where=f"target:{head.output}",
            message=message,
            evidence=(
                Table(
                    "Labels and loss",
                    ("what", "is"),
                    (
                        ("loss", head.loss),
                        ("output", as_shape(head.shape) if head.shape else "unknown"),
                        ("labels", f"{head.target.kind} {as_shape(head.target.array.shape)} {head.target.array.dtype}"),
                        ("values", shown or f"{head.target.array.minimum} … {head.target.array.maximum}"),
                    ),
                ),
            ),
            fix=fix,
        )


def _wrong(head: Head, target: TargetProfile) -> tuple[Severity, str, Fix] | None:
    if target.kind == "text":
        text = f"The labels of {head.output} are text, which no loss reads. Write each class as a number from 0."
        return Severity.CRITICAL, text, EncodeLabels(head.output, "integer")
    if head.loss in SPARSE_LOSSES:
        return _for_sparse(head, target)
    if head.loss in ROW_LOSSES and (head.units or 0) > 1:
        return _for_rows(head, target)
    if head.units == 1 and (
        head.loss in BINARY_LOSSES or (head.loss in REGRESSION_LOSSES and head.activation == SIGMOID.name)
    ):
        return _for_binary(head, target)
    if head.loss in BINARY_LOSSES and not head.rebuilds and target.array.shape[-1] == head.units:
        return _for_columns(head, target)
    return None


def _for_sparse(head: Head, target: TargetProfile) -> tuple[Severity, str, Fix] | None:
    if target.kind in ("one-hot", "distribution") and target.array.shape[-1] == head.units:
        text = f"The labels are one-hot rows {as_shape(target.array.shape)}, but {head.loss} reads one class number a row: fit stops. Use categorical_crossentropy, or labels.argmax(axis=-1)."
        if head.task == "multiclass":
            return Severity.CRITICAL, text, ReplaceLoss("categorical_crossentropy", output=head.output, was=head.loss)
    factor = scaled_factor(target)
    if factor is None or target.kind not in ("continuous", "binary"):
        return None
    high = target.array.maximum or 0.0
    text = f"The labels are fractions from {target.array.minimum:g} to {high:g}, but {head.loss} cuts them to whole class numbers, so they become class {'0' if high < 1 else f'0 … {int(high)}'}. They look like class numbers divided by {factor:g}: leave labels unscaled."
    return Severity.CRITICAL, text, EncodeLabels(head.output, "unscale", factor=factor)


def _for_rows(head: Head, target: TargetProfile) -> tuple[Severity, str, Fix] | None:
    if target.kind in ("classes", "binary") and one_per_row(target) and head.shape is not None and len(head.shape) == 2:
        text = f"The labels are class numbers {as_shape(target.array.shape)}, but {head.loss} reads one-hot rows {as_shape(head.shape)}: fit stops. Use sparse_categorical_crossentropy, or keras.utils.to_categorical."
        if target.array.integral and target.array.minimum == 0 and (target.array.maximum or 0) < (head.units or 0):
            return (
                Severity.CRITICAL,
                text,
                ReplaceLoss("sparse_categorical_crossentropy", output=head.output, was=head.loss),
            )
        return Severity.CRITICAL, text, EncodeLabels(head.output, "one-hot", classes=head.units)
    return _for_columns(head, target)


def _for_columns(head: Head, target: TargetProfile) -> tuple[Severity, str, Fix] | None:
    """Rows of two values other than 0 and 1: 0/255 or −1/1."""
    values = target.array.distinct_values
    if not two_valued_rows(target) or target.array.shape[-1] != head.units:
        return None
    text = f"The labels are {values[0]:g} and {values[1]:g}, but {head.loss} reads 0 and 1: with other values its size means nothing. Write them as 0 and 1."
    return Severity.HIGH, text, EncodeLabels(head.output, "zero-one")


def _for_binary(head: Head, target: TargetProfile) -> tuple[Severity, str, Fix] | None:
    labels = two_values(target)
    if labels is None or labels == (0.0, 1.0) or head.rebuilds:
        return None
    low, high = labels
    if head.loss in BINARY_LOSSES and low >= 0 and high <= 1:
        return None  # soft labels
    effect = (
        "the loss falls without end and one class pulls everything"
        if head.loss in BINARY_LOSSES
        else "the output, 0 … 1, cannot reach them"
    )
    text = f"The labels are {low:g} and {high:g}, but {head.loss} with {head.activation or 'this output'} reads 0 and 1: {effect}. Write them as 0 and 1."
    return Severity.HIGH, text, EncodeLabels(head.output, "zero-one")


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.DATA}),
    run=_run,
    uses=frozenset({Evidence.FIT}),
    explains=BADLY_TRAINED
    | UNSTEADY_LOSS
    | IDLE_WEIGHTS
    | {"fit-small-batch", "initial-loss", "label-shape", "loss-zero", "null-input", "saturation", "target-scaling"},
)
