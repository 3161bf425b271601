"""Number of output units.

Why: an output has one unit for each class, label or number to predict. With too few, `fit` stops at the first label that
has no unit, or one unit is silently compared with several targets. Units that no label uses are dead weight: the network
has to learn first that they never occur.
Example: `Dense(5, activation="softmax")` for the classes 0 … 5; `Dense(1)` for two target columns; the 1,000 units of
ImageNet kept for four classes.
Fix: as many units as classes (or target columns); one unit for yes or no with sigmoid.
Limits: a few spare units are low: the file may hold only some of the classes.
Source: Keras loss shape rules (keras.losses); TensorFlow's SparseSoftmaxCrossEntropyWithLogits stops at labels outside
[0, units) on CPU. Ten times as many units as classes: ours.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import LINEAR, SIGMOID, SOFTMAX
from stethoscope.architecture.losses import BINARY_LOSSES, REGRESSION_LOSSES, SPARSE_LOSSES
from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.findings import EvidenceItem, Fault, Finding, Number, Severity, Table
from stethoscope.checks.fixes.layers import ReplaceHead
from stethoscope.checks.judging.contract import Belonging, as_shape, belonging, classes_of, one_per_row, values_of
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import Evidence, EvidenceSet

FAR_TOO_MANY = 10
"""Units per class from which spare units are a defect rather than a remark."""
FEW_CLASSES = 100


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for head in evidence.heads:
        if head.target is None or head.units is None or head.shape is None or head.softmax_units == 1:
            continue
        found = _columns(head) or _classes(head) or _numbers(head)
        if found is None:
            continue
        severity, confidence, message = found
        fitting = belonging(head)
        if head.task == "binary" and head.loss in BINARY_LOSSES and one_per_row(head.target):
            fitting = Belonging(1, SIGMOID.name, "binary_crossentropy")
        items: tuple[EvidenceItem, ...] = (
            Number("units", head.units, threshold=fitting.units),
            Table(
                "Shapes",
                ("what", "shape"),
                (("output", as_shape(head.shape)), ("target", as_shape(head.target.array.shape))),
            ),
        )
        loss = fitting.loss if head.task != "regression" else (head.loss or fitting.loss)
        activation = fitting.activation if head.task != "regression" else (head.activation or LINEAR.name)
        yield Finding(
            fault=Fault.ARCHITECTURE,
            severity=severity,
            confidence=confidence,
            where=head.units_layer or head.layer,
            message=message,
            evidence=items,
            fix=ReplaceHead(
                head.units_layer,
                fitting.units,
                activation,
                loss,
                was=f"{head.units} units with {head.loss}",
                output=head.output,
            ),
        )


def _columns(head: Head) -> tuple[Severity, float, str] | None:
    """Targets with a column for each thing to predict."""
    target = head.target
    assert target is not None and head.shape is not None and head.units is not None
    shape = target.array.shape
    if target.kind in ("text", "empty") or head.loss in SPARSE_LOSSES or len(shape) < 2:
        return None
    if len(shape) != len(head.shape) or shape[-1] == head.units or shape[-1] == 1:
        return None
    columns, name = shape[-1], head.units_layer or head.layer
    what = {"one-hot": "classes", "multi-hot": "labels", "distribution": "classes"}.get(target.kind, "target columns")
    if head.units == 1 and head.loss in REGRESSION_LOSSES:
        text = f"{name} has one unit, but the targets have {columns} columns: the one prediction is compared with all of them and learns their mean. It needs {columns} units."
        return Severity.CRITICAL if target.kind in ("one-hot", "multi-hot") else Severity.HIGH, 0.95, text
    text = f"{name} has {head.units} unit{'' if head.units == 1 else 's'}, but the targets have {columns} {what}: fit stops because {as_shape(shape)} and {as_shape(head.shape)} do not fit. It needs {columns} units."
    return Severity.CRITICAL, 0.95, text


def _classes(head: Head) -> tuple[Severity, float, str] | None:
    """Class numbers against units."""
    target = head.target
    assert target is not None and head.units is not None
    if target.kind not in ("classes", "binary") or not target.array.integral:
        return None
    values, count, name = values_of(target), classes_of(head), head.units_layer or head.layer
    low, high = target.array.minimum or 0.0, target.array.maximum or 0.0
    if head.loss in SPARSE_LOSSES:
        if head.units == 1 and head.task == "binary":
            return None  # the loss: binary_crossentropy
        if len(values) > head.units:
            text = f"The targets have {len(values)} classes ({low:g} … {high:g}), but {name} has {head.units} unit{'' if head.units == 1 else 's'}: fit stops at the first label from {head.units} up. It needs {count} units."
            return Severity.CRITICAL, 0.97, text
        if low < 0 or high >= head.units or not one_per_row(target):
            return None  # label-range; or tokens, of which a sample never holds all
        needed = int(high) + 1
        if head.units >= FAR_TOO_MANY * needed and needed <= FEW_CLASSES:
            text = f"{name} has {head.units:,} units for {needed} classes: {head.units - needed:,} of them never occur and must first be unlearned. {needed} units are enough."
            return Severity.MEDIUM, 0.8, text
        if head.units > needed:
            text = f"{name} has {head.units} units, but only the classes up to {high:g} occur in the targets. Check that no class is missing from the data."
            return Severity.LOW if head.units > needed + 1 else Severity.INFO, 0.5, text
        return None
    if (
        head.units == 2
        and head.task == "binary"
        and head.loss in BINARY_LOSSES
        and head.activation != SOFTMAX.name
        and one_per_row(target)
    ):
        text = f"{name} has 2 units with {head.activation or 'an unknown activation'}, but there is one yes-or-no label a row: fit stops, for binary_crossentropy needs a target for each unit. One sigmoid unit is enough."
        return Severity.CRITICAL, 0.95, text
    return None


def _numbers(head: Head) -> tuple[Severity, float, str] | None:
    """Several units for one number a row."""
    target = head.target
    assert target is not None and head.units is not None
    if head.task != "regression" or head.units < 2 or not one_per_row(target) or head.loss not in REGRESSION_LOSSES:
        return None
    if head.shape is None or len(head.shape) != 2 or head.activation == SOFTMAX.name:
        return None
    stops = len(target.array.shape) == 1
    effect = "fit stops" if stops else "all of them learn the same number"
    text = f"{head.units_layer or head.layer} has {head.units} units, but there is one number a row to predict: {effect}. It needs 1 unit."
    return Severity.CRITICAL if stops else Severity.MEDIUM, 0.85, text


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.DATA}),
    run=_run,
    uses=frozenset({Evidence.FIT}),
    explains=BADLY_TRAINED | {"fit-small-batch", "initial-loss", "label-shape", "nonfinite-training"},
)
