"""Which losses contradict the task of an output, and how much that matters. Measured on Keras 3.15 (docs/contract.md)."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.architecture.activations import LINEAR, PROBABILITIES, SIGMOID, SOFTMAX
from stethoscope.architecture.losses import (
    BINARY_LOSSES,
    CATEGORICAL_LOSSES,
    HINGE_LOSSES,
    PROBABILITY_LOSSES,
    REGRESSION_LOSSES,
    ROW_LOSSES,
    SPARSE_LOSSES,
)
from stethoscope.checks.findings import Severity
from stethoscope.checks.judging.contract import (
    classes_of,
    one_per_row,
    scaled_factor,
    signed_labels,
    two_valued_rows,
    two_values,
    weighed,
)
from stethoscope.data.study.profiles import TargetProfile
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import EvidenceSet

MANY_ZEROS = 0.01
"""Share of targets at 0 from which a percentage error is ruled by them."""


@dataclass(frozen=True)
class LossClash:
    """A contradiction between loss and task."""

    severity: Severity
    confidence: float
    message: str
    head: bool = False
    """Whether units and activation have to change with the loss."""
    loss: str = ""
    """The loss that fits without other changes; "" for the usual one of the task."""
    classes: int = 0
    """Units to give the head when the targets are classes that the model fits as quantities."""


def loss_clash(head: Head, evidence: EvidenceSet) -> LossClash | None:
    """Returns the contradiction, or None. Those that other checks own (labels, activation, units, shapes) are left to them."""
    if not head.loss or head.softmax_units == 1:
        return None
    target = head.target
    if target is None:
        return _without_targets(head)
    if target.kind in ("text", "empty"):
        return None
    if head.task == "regression":
        return _regression(head, target, evidence)
    if head.task == "binary":
        return _binary(head, target, evidence)
    if head.task == "multiclass":
        return _multiclass(head, target, evidence)
    return _multilabel(head, evidence) if head.task == "multilabel" else None


def _without_targets(head: Head) -> LossClash | None:
    name = head.layer or head.output
    if head.units == 1 and head.loss in CATEGORICAL_LOSSES and len(head.shape or ()) == 2:
        return LossClash(
            Severity.CRITICAL,
            0.9,
            f"{head.loss} compares classes with each other, but {name} has one unit: the loss says the same for every prediction. Use binary_crossentropy for yes or no.",
            loss="binary_crossentropy",
        )
    softmax = head.activation == SOFTMAX.name and (head.units or 0) > 2
    if softmax and head.loss in BINARY_LOSSES:
        return _binary_softmax(head, Severity.MEDIUM, 0.6)
    if softmax and head.loss in REGRESSION_LOSSES:
        return LossClash(
            Severity.MEDIUM,
            0.5,
            f"{name} ends in softmax, which is for classes, but the loss is {head.loss}, which is for numbers. Use categorical cross-entropy.",
            loss="categorical_crossentropy",
        )
    return None


def _regression(head: Head, target: TargetProfile, evidence: EvidenceSet) -> LossClash | None:
    low, high = target.array.minimum, target.array.maximum
    if low is None or high is None:
        return None
    span = f"real numbers from {low:g} to {high:g}"
    if target.kind == "classes":
        return _numbered_classes(head, target)
    if head.loss in BINARY_LOSSES and low >= 0 and high <= 1:
        return None
    if head.loss in BINARY_LOSSES and head.rebuilds and low == 0:
        return None  # pixels that were not divided: output-range
    if head.loss in SPARSE_LOSSES and scaled_factor(target) is not None:
        return None  # class numbers that were scaled: label-encoding
    if two_valued_rows(target) and head.loss in PROBABILITY_LOSSES:
        return None  # yes and no in another notation: label-encoding
    keeps = head.activation == LINEAR.name
    if head.loss in BINARY_LOSSES | HINGE_LOSSES:
        kind = "0 … 1" if head.loss in BINARY_LOSSES else "−1 or 1"
        text = f"{head.loss} needs targets of {kind}, but the targets are {span}: the loss falls without end instead of measuring an error. Use mean_squared_error and no activation."
        return LossClash(weighed(Severity.HIGH, evidence), 0.95, text, head=not keeps)
    if head.loss in PROBABILITY_LOSSES | ROW_LOSSES:
        what = "cuts them to whole class numbers" if head.loss in SPARSE_LOSSES else "reads them as shares of classes"
        text = f"{head.loss} is for classes, but the targets are {span}: it {what}. Use mean_squared_error and no activation."
        return LossClash(weighed(Severity.HIGH, evidence, failing=Severity.CRITICAL), 0.95, text, head=not keeps)
    return _domain(head, target, evidence)


def _domain(head: Head, target: TargetProfile, evidence: EvidenceSet) -> LossClash | None:
    """Regression losses that are not defined for every number."""
    low = target.array.minimum or 0.0
    if head.loss in ("poisson", "mean_squared_logarithmic_error") and low < 0:
        why = "counts" if head.loss == "poisson" else "a logarithm of"
        text = f"{head.loss} is for {why} numbers from 0, but the targets go down to {low:g}; below 0 it measures no error. Use mean_squared_error."
        return LossClash(weighed(Severity.HIGH, evidence), 0.9, text, loss="mean_squared_error")
    if head.loss == "mean_absolute_percentage_error" and target.array.zero_fraction > MANY_ZEROS:
        text = f"{head.loss} divides by the target, and {target.array.zero_fraction:.0%} of the targets are 0: these rows rule the loss. Use mean_absolute_error."
        return LossClash(weighed(Severity.MEDIUM, evidence), 0.8, text, loss="mean_absolute_error")
    if head.loss == "cosine_similarity" and head.units == 1:
        text = "cosine_similarity compares directions, and one number has no direction but its sign: the size of an error does not count. Use mean_squared_error."
        return LossClash(weighed(Severity.HIGH, evidence), 0.9, text, loss="mean_squared_error")
    return None


def _numbered_classes(head: Head, target: TargetProfile) -> LossClash | None:
    """Class numbers fitted as quantities: only where the program itself says, by its metric, that they are classes."""
    values = target.class_values
    counted = 3 <= len(values) <= 20 and values == tuple(float(index) for index in range(len(values)))
    accuracy = any("accuracy" in metric for metric in head.metrics)
    if not counted or not accuracy or head.loss not in REGRESSION_LOSSES or head.units != 1:
        return None
    text = f"The targets are the whole numbers 0 … {len(values) - 1} and the metric is accuracy, so they look like {len(values)} classes, but {head.loss} fits them as quantities: class 2 counts as nearer to 1 than to 0. Use {len(values)} units, softmax and sparse_categorical_crossentropy."
    return LossClash(Severity.MEDIUM, 0.55, text, head=True, classes=len(values))


def _binary(head: Head, target: TargetProfile, evidence: EvidenceSet) -> LossClash | None:
    labels = two_values(target)
    if head.units == 1:
        if head.loss in ROW_LOSSES | SPARSE_LOSSES:
            why = (
                "the loss says the same for every prediction"
                if head.loss not in SPARSE_LOSSES
                else "fit stops at the second class"
            )
            text = f"{head.loss} compares classes with each other, but {head.layer} has one unit for yes or no: {why}. Use binary_crossentropy."
            return LossClash(
                Severity.CRITICAL, 0.95, text, head=head.activation != SIGMOID.name, loss="binary_crossentropy"
            )
        if head.loss in REGRESSION_LOSSES and labels == (0.0, 1.0) and not signed_labels(head):
            return _squared(head, evidence, "yes or no (0 and 1)", "binary_crossentropy")
        return None
    if (head.units or 0) > 1 and one_per_row(target):
        if head.loss in BINARY_LOSSES and head.activation == SOFTMAX.name:
            text = f"binary_crossentropy needs one target for each of the {head.units} units, but there is one label a row: fit stops. With softmax, use sparse_categorical_crossentropy."
            return LossClash(Severity.CRITICAL, 0.9, text, loss="sparse_categorical_crossentropy")
        if head.loss in REGRESSION_LOSSES:
            return _spread(head, 2)
    return None


def _multiclass(head: Head, target: TargetProfile, evidence: EvidenceSet) -> LossClash | None:
    count = classes_of(head)
    units = head.units or 0
    if units == 1 and target.kind == "classes":
        if head.loss in BINARY_LOSSES | HINGE_LOSSES | ROW_LOSSES:
            text = f"The targets are {count} classes, but {head.layer} has one unit and {head.loss} only knows two: {count} classes need {count} units, softmax and sparse_categorical_crossentropy."
            severity = Severity.CRITICAL if head.loss in ROW_LOSSES else Severity.HIGH
            return LossClash(severity, 0.95, text, head=True)
        return None
    if units < 2:
        return None
    if target.kind == "classes" and one_per_row(target):
        if head.loss in REGRESSION_LOSSES:
            return _spread(head, count)
        if head.loss in BINARY_LOSSES and units >= count:
            text = f"{head.loss} needs one target for each of the {units} units, but there is one class number a row: fit stops. Use softmax and sparse_categorical_crossentropy."
            return LossClash(
                Severity.CRITICAL,
                0.9,
                text,
                head=head.activation != SOFTMAX.name,
                loss="sparse_categorical_crossentropy",
            )
        return None
    if target.kind not in ("one-hot", "distribution") or target.array.shape[-1] != units:
        return None
    if head.loss in REGRESSION_LOSSES | HINGE_LOSSES and not (
        target.kind == "distribution" and head.loss in REGRESSION_LOSSES
    ):
        return _squared(head, evidence, f"{count} classes", "categorical_crossentropy")
    if head.loss in BINARY_LOSSES and head.activation == SOFTMAX.name:
        return _binary_softmax(head, weighed(Severity.MEDIUM, evidence), 0.8)
    return None


def _multilabel(head: Head, evidence: EvidenceSet) -> LossClash | None:
    if head.target is None or head.target.array.shape[-1] != head.units:
        return None
    several = f"rows hold any number of the {head.units} labels"
    if head.loss in REGRESSION_LOSSES:
        return _squared(
            head,
            evidence,
            f"labels that can go together ({several})",
            "binary_crossentropy",
            head.activation == SOFTMAX.name,
        )
    if head.loss in ROW_LOSSES and head.activation != SOFTMAX.name:
        text = f"{head.loss} expects one class a row, but the targets' {several}. Use binary_crossentropy with sigmoid."
        return LossClash(weighed(Severity.HIGH, evidence), 0.9, text, head=head.activation != SIGMOID.name)
    if head.loss in SPARSE_LOSSES:
        text = f"{head.loss} expects one class number a row, but the targets have {head.units} columns and their {several}: fit stops. Use binary_crossentropy with sigmoid."
        return LossClash(Severity.CRITICAL, 0.95, text, head=head.activation != SIGMOID.name)
    return None


def _squared(head: Head, evidence: EvidenceSet, what: str, better: str, other_head: bool = False) -> LossClash:
    text = f"{head.loss} measures distances between numbers, but the targets are {what}: its gradient fades just where the network is surely wrong. Use {better}."
    return LossClash(
        weighed(Severity.MEDIUM, evidence),
        0.75,
        text,
        head=other_head or head.activation not in PROBABILITIES,
        loss=better,
    )


def _binary_softmax(head: Head, severity: Severity, confidence: float) -> LossClash:
    text = f"{head.loss} treats the {head.units} units of {head.layer} as separate yes-or-no questions, but softmax makes them one choice: it trains other probabilities than it predicts (too sure of themselves). Use categorical_crossentropy."
    return LossClash(severity, confidence, text, loss="categorical_crossentropy")


def _spread(head: Head, count: int) -> LossClash:
    text = f"{head.loss} subtracts the class number of a row from each of the {head.units} units of {head.layer}, so every unit is to become the class number itself (or fit stops). For {count} classes use softmax and sparse_categorical_crossentropy."
    return LossClash(
        Severity.CRITICAL, 0.9, text, head=head.activation != SOFTMAX.name, loss="sparse_categorical_crossentropy"
    )
