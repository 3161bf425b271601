"""What an output, its loss and its targets must agree on: questions the contract checks ask. Nothing is run."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from stethoscope.architecture.activations import LINEAR, SIGMOID, SIGNED, SOFTMAX
from stethoscope.architecture.losses import HINGE_LOSSES, SPARSE_LOSSES
from stethoscope.checks.curves.short_run import learns_nothing, learns_well
from stethoscope.checks.findings import Severity
from stethoscope.data.study.profiles import ArrayProfile, TargetProfile
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.types import Shape


@dataclass(frozen=True)
class Belonging:
    """Units, activation and loss that belong together for a task."""

    units: int
    activation: str
    loss: str


def weighed(severity: Severity, evidence: EvidenceSet, *, failing: Severity = Severity.HIGH) -> Severity:
    """The severity after the short run has spoken: at most MEDIUM where the model learns well, at least `failing` where it learns nothing."""
    if learns_well(evidence.training):
        return min(severity, Severity.MEDIUM)
    return max(severity, failing) if learns_nothing(evidence.training) else severity


def belonging(head: Head) -> Belonging:
    """What fits the task of this output."""
    target = head.target
    if head.task == "binary" and head.units != 2:
        return Belonging(1, SIGMOID.name, "binary_crossentropy")
    if head.task in ("binary", "multiclass"):
        rows = target is not None and target.kind in ("one-hot", "distribution")
        loss = "categorical_crossentropy" if rows else "sparse_categorical_crossentropy"
        return Belonging(classes_of(head) or head.units or 2, SOFTMAX.name, loss)
    if head.task == "multilabel":
        return Belonging(_columns(target) or head.units or 1, SIGMOID.name, "binary_crossentropy")
    return Belonging(_columns(target) or head.units or 1, LINEAR.name, "mean_squared_error")


def classes_of(head: Head) -> int:
    """Number of classes in the targets; for class numbers from 0, the largest plus one. 0 when there are none."""
    target = head.target
    if target is None:
        return 0
    if target.kind in ("one-hot", "distribution", "multi-hot"):
        return target.array.shape[-1]
    values = values_of(target)
    if target.kind not in ("classes", "binary") or not values:
        return 0
    dense = target.array.integral and values[0] >= 0 and values[-1] < 2 * len(values)
    return int(values[-1]) + 1 if dense and values[0] == 0 else len(values)


def values_of(target: TargetProfile) -> tuple[float, ...]:
    """The different labels, sorted; empty when there are too many to have been kept."""
    if target.kind in ("one-hot", "multi-hot"):
        return target.array.distinct_values
    return target.class_values or target.array.distinct_values


def one_per_row(target: TargetProfile) -> bool:
    """Whether every row has a single number."""
    return target.array.shape[1:] in ((), (1,))


def as_shape(shape: Shape) -> str:
    """(None, 6, 3) as "(rows, 6, 3)"."""
    return "(" + ", ".join(["rows", *("any" if size is None else str(size) for size in shape[1:])]) + ")"


def fits(shape: tuple[int, ...], wanted: Shape) -> bool:
    """Whether an array's shape without rows is the wanted one; None is any size."""
    return len(shape) == len(wanted) and all(
        have == want or want is None for have, want in zip(shape, wanted, strict=True)
    )


def wanted_shapes(head: Head) -> tuple[Shape, ...]:
    """The shapes (without rows) of targets that the loss of this output takes as they are. Empty when the output's is unknown.

    Source: keras.losses (squeeze_or_expand_to_same_rank): a last axis of 1 may be left out on either side.
    """
    out = head.row_shape
    if out is None:
        return ()
    if head.loss in SPARSE_LOSSES:
        return (out[:-1], (*out[:-1], 1))
    return (out, out[:-1]) if out and out[-1] == 1 else (out,)


def scaled_factor(target: TargetProfile) -> float | None:
    """The factor that turns fractions back into class numbers 0 … K−1, for labels that were scaled by mistake; else None.

    Labels count as scaled classes when they are 2 to 64 different non-negative fractions, all whole multiples of one step.
    """
    values = target.array.distinct_values
    if target.array.integral or not 2 <= len(values) <= 64 or values[0] < 0:
        return None
    step = min(after - before for before, after in itertools.pairwise(values))
    if step <= 0 or values[-1] / step > 1_000:
        return None
    if any(abs(value / step - round(value / step)) > 0.02 for value in values):
        return None
    factor = 1 / step
    return float(round(factor)) if abs(factor - round(factor)) < 0.02 * max(1.0, factor) and factor >= 1.5 else factor


def two_values(target: TargetProfile) -> tuple[float, float] | None:
    """The two labels of a yes-or-no target."""
    values = values_of(target)
    return (values[0], values[1]) if target.kind == "binary" and len(values) == 2 else None


def two_valued_rows(target: TargetProfile) -> bool:
    """Whether rows hold two values, not both in 0 … 1: yes and no for each column in another notation (0/255, −1/1)."""
    values = target.array.distinct_values
    rows = len(target.array.shape) > 1 and target.array.shape[-1] > 1
    return rows and len(values) == 2 and (values[0] < 0 or values[1] > 1)


def signed_labels(head: Head) -> bool:
    """Whether labels are −1 and 1 and the output can follow them: a classifier by least squares or hinge."""
    labels = None if head.target is None else two_values(head.target)
    return labels == (-1.0, 1.0) and (head.activation in SIGNED | {LINEAR.name} or head.loss in HINGE_LOSSES)


@dataclass(frozen=True)
class Reach:
    """How much of a target an output with bounds can follow."""

    outside: float
    """Share of target values out of its range by more than 1 % of their spread."""
    ceiling: float
    """The best R² that is possible: 1 − squared error of the nearest reachable values over the variance."""


def reach(array: ArrayProfile, low: float, high: float) -> Reach | None:
    """Compares a target with a range. None when it lies inside, or nothing is known of it.

    Source: R² of the projection onto [low, high], from the histogram of the target.
    """
    if array.minimum is None or array.maximum is None:
        return None
    slack = 0.01 * (array.maximum - array.minimum)
    if array.minimum >= low - slack and array.maximum <= high + slack:
        return None
    edges, counts = array.histogram_edges, array.histogram_counts
    if len(edges) != len(counts) + 1 or not sum(counts):
        edges, counts = (array.minimum, array.maximum), (1,)
    points = [(before + after) / 2 for before, after in itertools.pairwise(edges)]
    total = sum(counts)
    mean = array.mean if array.mean is not None else sum(p * c for p, c in zip(points, counts, strict=True)) / total
    variance = array.std**2 if array.std else (array.maximum - array.minimum) ** 2 / 12
    missed = outside = 0.0
    for point, count in zip(points, counts, strict=True):
        nearest = min(max(point, low), high)
        missed += count * (point - nearest) ** 2
        outside += count * (abs(point - nearest) > slack)
    if not math.isfinite(mean) or variance <= 0:
        return Reach(outside / total, 1.0)
    return Reach(outside / total, 1 - missed / total / variance)


def _columns(target: TargetProfile | None) -> int:
    if target is None:
        return 0
    return target.array.shape[-1] if len(target.array.shape) > 1 else 1
