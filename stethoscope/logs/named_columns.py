"""From columns with names to one curve: which is the loss, which the metric, which belong to validation."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from stethoscope.evidence.curves import CurveEvidence

_VALIDATION = re.compile(r"(^|[/_\-. ])(val|valid|validation|test|eval|evaluation|dev)([/_\-. ]|$)")
_RATE = re.compile(r"(^|[/_\-. ])(lr|learning_rate|learningrate)([/_\-. ]|$)")
_NOT_METRICS = re.compile(
    r"(^|[/_\-. ])(time|timestamp|epoch|step|steps|iteration|duration|seconds|memory|norm|momentum|weight_decay)([/_\-. ]|$)"
)
_LOSS = re.compile(r"loss|(^|[/_\-. ])(cost|cross_entropy|crossentropy|xent|nll|objective)([/_\-. ]|$)")
_BETTER_KNOWN = ("accuracy", "acc", "auc", "f1", "precision", "recall", "r2", "mae", "mse", "error")


class Column(NamedTuple):
    """Values of one name at their steps."""

    steps: tuple[float, ...]
    values: tuple[float, ...]


class Roles(NamedTuple):
    """Which names play which part; "" where none does."""

    loss: str
    metric: str
    val_loss: str
    val_metric: str
    rate: str


def roles(names: Iterable[str]) -> Roles:
    """Chooses among the names as Keras, TensorBoard and people write them ("val_loss", "epoch_loss", "train/Accuracy")."""
    known = sorted(names, key=lambda name: (_rank(name), len(name), name))
    train = [name for name in known if not _VALIDATION.search(name.lower())]
    held = [name for name in known if _VALIDATION.search(name.lower())]
    rate = next((name for name in train if _RATE.search(name.lower())), "")
    metric = next((name for name in train if _is_metric(name) and name != rate), "")
    twin = next((name for name in held if _bare(name) == _bare(metric)), "") if metric else ""
    return Roles(
        next((name for name in train if _LOSS.search(name.lower())), ""),
        metric,
        next((name for name in held if _LOSS.search(name.lower())), ""),
        twin,
        rate,
    )


def as_curve(run: str, unit: str, columns: Mapping[str, Column], problem: str = "") -> CurveEvidence | None:
    """One run's curve; None when no column is a loss or a metric."""
    found = roles(columns)
    if not (found.loss or found.metric or found.val_loss):
        return None
    empty = Column((), ())
    main = columns.get(found.loss) or columns.get(found.metric) or empty
    loss = columns.get(found.loss, empty)
    held = columns.get(found.val_loss) or columns.get(found.val_metric) or empty
    return CurveEvidence(
        run=run,
        source="log",
        unit=unit,
        steps=main.steps,
        loss=loss.values,
        metric=columns.get(found.metric, empty).values,
        metric_name=_bare(found.metric) if found.metric else "",
        val_steps=held.steps,
        val_loss=columns.get(found.val_loss, empty).values,
        val_metric=columns.get(found.val_metric, empty).values,
        learning_rate=columns.get(found.rate, empty).values,
        problem=problem,
    )


def latest_attempt(steps: Sequence[float], values: Sequence[float]) -> Column:
    """Drops what a restarted run has overwritten: a point is left out when a later one has the same or an earlier step."""
    kept: list[tuple[float, float]] = []
    lowest = math.inf
    for step, value in zip(reversed(steps), reversed(values), strict=True):
        if step < lowest:
            kept.append((step, value))
            lowest = step
    kept.reverse()
    return Column(tuple(step for step, _ in kept), tuple(value for _, value in kept))


def _rank(name: str) -> tuple[int, int]:
    """Whole epochs before single batches, the total before the loss of one output, well-known metrics before others."""
    lower = _bare(name)
    batch = "batch" in name.lower() or "iteration" in name.lower()
    known = next((at for at, word in enumerate(_BETTER_KNOWN) if word in lower), len(_BETTER_KNOWN))
    return int(batch), int(lower != "loss") if _LOSS.search(lower) else known


def _is_metric(name: str) -> bool:
    lower = name.lower()
    return not _LOSS.search(lower) and not _NOT_METRICS.search(_bare(name)) and not _RATE.search(lower)


def _bare(name: str) -> str:
    """The metric itself: "epoch_val_accuracy", "train/accuracy" and "val_accuracy" are all "accuracy"."""
    lower = re.sub(r"^(epoch_|batch_)", "", name.lower().rsplit("/", 1)[-1] if "/" in name else name.lower())
    if "/" in name and re.fullmatch(r"train(ing)?|val|valid|validation|test|eval", lower):
        lower = name.lower().split("/", 1)[0]
    return re.sub(r"^(train|training|val|valid|validation|test|eval)[_\-. ]", "", lower)
