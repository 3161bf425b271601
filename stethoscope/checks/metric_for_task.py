"""Metric and task.

Why: a metric that does not fit the task shows a number that means nothing, and choices are made by it. Accuracy of real
numbers counts exact hits, so it stays near 0 however good the model is; binary accuracy of ten classes is 90 % for a model
that knows nothing; plain accuracy of labels that go together only looks at the largest.
Example: `metrics=["accuracy"]` for a regression with `mse`.
Fix: mean absolute error for numbers; accuracy for classes; binary accuracy for labels that go together.
Source: keras.io/api/metrics (how "accuracy" is resolved from shapes); measured on Keras 3.15, docs/contract.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import LINEAR, SIGMOID
from stethoscope.architecture.losses import SPARSE_LOSSES
from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.compile_and_fit import SetMetrics
from stethoscope.checks.judging.contract import classes_of, one_per_row, scaled_factor, two_values
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_ACCURACIES = frozenset({"accuracy", "binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy"})
_CLASS_METRICS = _ACCURACIES | {"precision", "recall", "auc", "f1_score", "top_k_categorical_accuracy"}
_ROW_METRICS = frozenset({"precision", "recall", "auc", "binary_accuracy", "mean_squared_error", "mean_absolute_error"})
"""Metrics that compare target and output number by number: they need targets as wide as the output."""
_THRESHOLDED = frozenset({"accuracy", "binary_accuracy", "precision", "recall"})


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for head in evidence.heads:
        for metric in head.metrics:
            found = _wrong(head, metric)
            if found is None:
                continue
            severity, confidence, message, better = found
            yield Finding(
                fault=Fault.METRIC,
                severity=severity,
                confidence=confidence,
                where="metrics",
                message=message,
                evidence=(
                    Table(
                        f"Task: {head.task}, because {head.task_because}",
                        ("part", "is"),
                        (("metric", metric), ("loss", head.loss), ("last activation", head.activation or "unknown")),
                    ),
                ),
                fix=SetMetrics((better,), (metric,), head.output if len(evidence.heads) > 1 else ""),
            )


def _wrong(head: Head, metric: str) -> tuple[Severity, float, str, str] | None:
    target = head.target
    if target is not None and head.loss in SPARSE_LOSSES and scaled_factor(target) is not None:
        return None  # class numbers that were scaled: label-encoding
    if head.task == "regression" and metric in _CLASS_METRICS:
        sure = 0.95 if target is not None else 0.6
        what = (
            "real numbers"
            if target is None or target.kind != "classes"
            else "numbers that the model fits as quantities"
        )
        text = f"{metric} counts exact hits, but {head.layer or head.output} predicts {what}: it stays near 0 however good the model is. Use mean_absolute_error."
        return Severity.MEDIUM, sure, text, "mean_absolute_error"
    if target is None:
        return None
    if head.task == "multilabel":
        return _multilabel(head, metric)
    if head.task == "multiclass" and (head.units or 0) > 1:
        return _multiclass(head, metric)
    return _binary(head, metric) if head.task == "binary" and head.units == 1 else None


def _multilabel(head: Head, metric: str) -> tuple[Severity, float, str, str] | None:
    if metric == "sparse_categorical_accuracy":
        return (
            Severity.CRITICAL,
            0.9,
            f"{metric} reads one class number a row, but rows hold any number of labels: fit stops. Use binary_accuracy.",
            "binary_accuracy",
        )
    if metric in ("accuracy", "categorical_accuracy"):
        text = f"The targets' rows hold any number of ones, but {metric} only asks whether the largest of the {head.units} outputs is the first label. Use binary_accuracy."
        return Severity.MEDIUM, 0.9, text, "binary_accuracy"
    return None


def _multiclass(head: Head, metric: str) -> tuple[Severity, float, str, str] | None:
    target = head.target
    assert target is not None
    count = classes_of(head)
    if target.kind == "one-hot" and target.array.shape[-1] == head.units:
        if metric == "sparse_categorical_accuracy":
            return (
                Severity.CRITICAL,
                0.9,
                f"{metric} reads class numbers, but the labels are one-hot rows: fit stops. Use accuracy.",
                "accuracy",
            )
        if metric == "binary_accuracy" and count > 2:
            text = f"binary_accuracy counts each of the {count} units as an answer of its own: a model that knows nothing reaches {1 - 1 / count:.0%}. Use accuracy."
            return Severity.MEDIUM, 0.95, text, "accuracy"
    if target.kind in ("classes", "binary") and one_per_row(target):
        flat = len(target.array.shape) == 1
        if metric == "categorical_accuracy":
            return (
                Severity.MEDIUM,
                0.9,
                f"{metric} reads one-hot rows, but the labels are class numbers: the value means nothing. Use accuracy.",
                "accuracy",
            )
        if metric in _ROW_METRICS:
            stops = "fit stops" if flat else "the value means nothing"
            text = f"{metric} needs a target for each of the {head.units} units, but the labels are class numbers: {stops}. Use accuracy."
            return Severity.CRITICAL if flat else Severity.MEDIUM, 0.85, text, "accuracy"
    return None


def _binary(head: Head, metric: str) -> tuple[Severity, float, str, str] | None:
    target = head.target
    assert target is not None
    labels = two_values(target)
    if metric in ("categorical_accuracy", "sparse_categorical_accuracy"):
        return (
            Severity.MEDIUM,
            0.9,
            f"{metric} picks the largest unit, and {head.layer} has only one: the value means nothing. Use binary_accuracy.",
            "binary_accuracy",
        )
    if metric in _THRESHOLDED and labels == (-1.0, 1.0) and head.activation != SIGMOID.name:
        text = f"{metric} compares with 0 and 1, but the labels are −1 and 1: every −1 counts as wrong. Write a metric with threshold 0, or use labels 0 and 1 with sigmoid."
        return Severity.MEDIUM, 0.85, text, "hinge"
    if metric == "accuracy" and head.from_logits and head.activation == LINEAR.name:
        text = f"{metric} draws the line at 0.5, but {head.layer} puts out raw scores, whose line is 0. Use keras.metrics.BinaryAccuracy(threshold=0)."
        return Severity.LOW, 0.9, text, "binary_accuracy"
    return None


CHECK = Check(needs=frozenset({Evidence.ARCHITECTURE}), run=_run, uses=frozenset({Evidence.DATA, Evidence.FIT}))
