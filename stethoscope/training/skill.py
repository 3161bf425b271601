"""How good predictions are, in terms that do not depend on the loss: a score, and how far it is from chance to perfect.

What the loss of an untrained model should be: that of saying every class equally often, or the mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.losses import CLASSIFICATION_LOSSES, HINGE_LOSSES, canonical_loss
from stethoscope.evidence.training import skill_over
from stethoscope.program.setup import Setup

Array = npt.NDArray[Any]
Kind = Literal["two-values", "class-numbers", "one-hot", "multi-hot", "numbers", "none"]
SCORE_ROWS = 2_000
MAX_VALUES = 4_000_000
"""Predicted values that are scored at most: rows are dropped beyond it."""
_MAX_CLASSES = 1_000


@dataclass(frozen=True)
class Score:
    """Predictions against targets. NaN where predictions are not finite or fit no target.

    Of several outputs: the score of the one that stands for the network, and the mean skill of those that can be scored,
    where one below that of guessing counts as 0.
    """

    score: float
    skill: float
    distinct_predictions: int | None = None
    per_class_recall: tuple[float, ...] = ()
    per_class_count: tuple[int, ...] = ()
    heads: tuple[Score | None, ...] = ()
    """Of several outputs, each one's; None where it is not trained, or its predictions fit no target."""


_NOT_SCORED = Score(float("nan"), float("nan"))


@dataclass(frozen=True)
class TargetScale:
    """What one output's targets are, for scoring."""

    kind: Kind
    values: tuple[float, ...] = ()
    """The two values, or the class numbers of a column, in ascending order."""
    threshold: float = 0.5
    """Predictions above it mean the higher value."""
    chance: float = 0.0
    """The score of always saying the majority class (or label); 0 for numbers."""
    deviation: float = 0.0
    """Standard deviation of number targets."""

    @property
    def metric(self) -> str:
        """What predictions are scored by: "accuracy", "mean label accuracy" or "r2"."""
        return {"multi-hot": "mean label accuracy", "numbers": "r2"}.get(self.kind, "accuracy")


@dataclass(frozen=True)
class Scorer:
    """Scores a model's outputs. Chance is that of the training targets."""

    scales: tuple[TargetScale, ...]
    """One per output; of kind "none" where it is not trained."""

    @classmethod
    def of(cls, setup: Setup) -> Scorer:
        """The scorer of a training; it depends on targets and losses, not on the model's state."""
        losses = setup.losses or (None,) * len(setup.y)
        untold = all(loss is None for loss in losses)
        return cls(
            tuple(
                _scale(y, loss) if untold or loss is not None else TargetScale("none")
                for y, loss in zip(setup.y, losses, strict=False)
            )
        )

    @property
    def head(self) -> int:
        """The output whose score stands for the network: the first that is trained on targets that can be scored."""
        return next((place for place, scale in enumerate(self.scales) if scale.kind != "none"), 0)

    @property
    def scale(self) -> TargetScale:
        """What that output's targets are."""
        return self.scales[self.head] if self.scales else TargetScale("none")

    @property
    def name(self) -> str:
        """ "accuracy", "mean label accuracy" or "r2"; that of the output that stands for the network."""
        return self.scale.metric

    @property
    def chance(self) -> float:
        """What guessing scores on that output."""
        return self.scale.chance

    def scores(self, targets: Sequence[Array], outputs: Sequence[Array]) -> Score:
        """Scores rows of `targets` against `outputs`, one array per output with rows on the first axis."""
        heads = tuple(
            _score(scale, np.asarray(y), np.asarray(p))
            for scale, y, p in zip(self.scales, targets, outputs, strict=False)
        )
        first = heads[self.head] if heads else None
        if len(heads) < 2:
            return first or _NOT_SCORED
        # Worse than guessing is nothing learned: it takes nothing from what another output has learned.
        skills = [np.maximum(score.skill, 0.0) for score in heads if score is not None]
        return replace(first or _NOT_SCORED, skill=float(np.mean(skills)) if skills else float("nan"), heads=heads)


def _scale(y: Array, loss: Any) -> TargetScale:
    """Tells by values and loss what targets are; at most the first 20,000 rows are looked at."""
    if y.dtype.kind not in "biuf" or y.size == 0:
        return TargetScale("none")
    name, config = canonical_loss(loss)
    y = y[:20_000].astype(np.float64)
    y = y[np.isfinite(y).reshape(len(y), -1).all(axis=1)] if y.ndim else y.reshape(1)
    if y.size == 0:
        return TargetScale("none")
    single = y.ndim == 1 or y.shape[-1] == 1 or name.startswith("sparse_")
    distinct = np.unique(y) if y.size <= 2_000_000 else np.unique(y.reshape(-1)[:2_000_000])
    whole = bool(np.all(np.mod(distinct, 1) == 0))
    if single:
        if len(distinct) == 2:
            low, high = (float(item) for item in distinct)
            share = float(np.mean(y == high))
            middle = 0.0 if name in HINGE_LOSSES or config.get("from_logits") else (low + high) / 2
            return TargetScale("two-values", (low, high), middle, max(share, 1 - share))
        classes = name.startswith("sparse_") or (whole and name in CLASSIFICATION_LOSSES)
        if (classes and len(distinct) <= _MAX_CLASSES) or (whole and len(distinct) == 1):
            counts = np.array([np.sum(y == item) for item in distinct])
            return TargetScale("class-numbers", tuple(distinct.tolist()), 0.5, float(counts.max() / counts.sum()))
    elif len(distinct) == 2:
        low, high = (float(item) for item in distinct)
        hot = (y == high).reshape(-1, y.shape[-1])
        if bool(np.all(hot.sum(axis=-1) == 1)):
            return TargetScale("one-hot", (low, high), 0.5, float(hot.mean(axis=0).max()))
        shares = hot.mean(axis=0)
        middle = 0.0 if config.get("from_logits") else (low + high) / 2
        return TargetScale("multi-hot", (low, high), middle, float(np.mean(np.maximum(shares, 1 - shares))))
    elif name in CLASSIFICATION_LOSSES and bool(np.allclose(y.sum(axis=-1), 1, atol=1e-3) and y.min() >= 0):
        counts = np.bincount(y.reshape(-1, y.shape[-1]).argmax(axis=-1), minlength=y.shape[-1])
        return TargetScale("one-hot", (0.0, 1.0), 0.5, float(counts.max() / counts.sum()))
    return TargetScale("numbers", deviation=float(y.std()))


def _score(scale: TargetScale, y: Array, p: Array) -> Score | None:
    """None where there is nothing to score; NaN where predictions are not finite."""
    if scale.kind == "none" or p.dtype.kind not in "biuf" or y.dtype.kind not in "biuf" or p.size == 0:
        return None
    p, y = p.astype(np.float64), y.astype(np.float64)
    if not np.isfinite(p).all():
        return _NOT_SCORED
    width = p.shape[-1] if p.ndim > 1 else 1
    if scale.kind in ("two-values", "class-numbers"):
        labels = y.reshape(-1)
        if p.size == labels.size:
            values = np.array(scale.values)
            flat = p.reshape(-1)
            if scale.kind == "two-values":
                said = np.where(flat > scale.threshold, values[1], values[0])
            else:
                said = values[np.abs(flat[:, None] - values[None, :]).argmin(axis=1)]
        elif width > 1 and p.size == labels.size * width:
            said = p.reshape(-1, width).argmax(axis=1).astype(np.float64)
        else:
            return None
        return _accuracy(scale, labels, said, scale.values)
    if scale.kind == "one-hot" and p.shape[-1] == y.shape[-1] and p.size == y.size:
        labels, said = (item.reshape(-1, width).argmax(axis=1).astype(np.float64) for item in (y, p))
        return _accuracy(scale, labels, said, tuple(float(place) for place in range(width)))
    if scale.kind == "multi-hot" and p.size == y.size:
        truth, guess = (y == scale.values[1]).reshape(-1, width), (p > scale.threshold).reshape(-1, width)
        score = float(np.mean(truth == guess))
        recall = tuple(float(guess[truth[:, k], k].mean()) if truth[:, k].any() else float("nan") for k in range(width))
        patterns = len(np.unique(guess, axis=0))
        return Score(score, skill_over(score, scale.chance), patterns, recall, tuple(int(k) for k in truth.sum(axis=0)))
    return _r2(scale, y, p)


def _accuracy(scale: TargetScale, labels: Array, said: Array, classes: tuple[float, ...]) -> Score:
    score = float(np.mean(labels == said))
    recall: list[float] = []
    counts: list[int] = []
    for value in classes:
        rows = labels == value
        counts.append(int(rows.sum()))
        recall.append(float(np.mean(said[rows] == value)) if rows.any() else float("nan"))
    return Score(score, skill_over(score, scale.chance), len(np.unique(said)), tuple(recall), tuple(counts))


def _r2(scale: TargetScale, y: Array, p: Array) -> Score | None:
    """R² = 1 − Σ(y−p)²/Σ(y−mean)², mean over the last axis' columns that vary."""
    if p.size != y.size:
        # One prediction for several positions, or the other way round: spread over them, as a loss does.
        p = p.reshape(len(p), *(1,) * (y.ndim - p.ndim), *p.shape[1:])
        y = y.reshape(len(y), *(1,) * (p.ndim - y.ndim), *y.shape[1:])
        try:
            y, p = (item.reshape(len(item), -1) for item in np.broadcast_arrays(y, p))
        except ValueError:
            return None
    width = p.shape[-1] if p.ndim > 1 else 1
    y, p = y.reshape(-1, width), p.reshape(-1, width)
    total = np.sum((y - y.mean(axis=0)) ** 2, axis=0)
    varies = total > 1e-12
    if not varies.any():
        return None
    left = np.sum((y - p) ** 2, axis=0)
    score = float(np.mean(np.clip(1.0 - left[varies] / total[varies], -1.0, 1.0)))
    moves = bool(np.any(p.std(axis=0) > 1e-6 * max(scale.deviation, 1e-12)))
    return Score(score, score, 2 if moves else 1)


def expected_loss(setup: Setup) -> float | None:
    """Returns the expected initial loss over all outputs, None where it is not known for a loss.

    Source: cross-entropy of the uniform guess: ln(classes), ln 2 for yes/no; squared error of the mean: the variance;
    absolute error of the median: the mean absolute deviation from it. (cs231n.github.io/neural-networks-3/#sanitycheck)
    """
    total = 0.0
    factors = setup.loss_weights or (1.0,) * len(setup.y)
    for y, loss, factor, units in zip(setup.y, setup.losses, factors, _units(setup), strict=False):
        if loss is None:
            continue
        if y.dtype.kind not in "biuf" or y.size == 0:
            return None
        name = canonical_loss(loss)[0]
        values = np.asarray(y[:20_000], np.float64)
        values = values[np.isfinite(values).reshape(len(values), -1).all(axis=1)]
        if name in ("categorical_crossentropy", "sparse_categorical_crossentropy"):
            if not units or units < 2:
                return None
            found = math.log(units)
        elif name == "binary_crossentropy":
            found = math.log(2)
        elif name == "mean_squared_error" and values.size:
            found = float(np.mean(values.reshape(len(values), -1).var(axis=0)))
        elif name == "mean_absolute_error" and values.size:
            flat = values.reshape(len(values), -1)
            found = float(np.mean(np.abs(flat - np.median(flat, axis=0))))
        else:
            return None
        total += factor * found
    return total


def _units(setup: Setup) -> list[int | None]:
    try:
        return [int(tensor.shape[-1]) if tensor.shape[-1] else None for tensor in setup.live.outputs]
    except (AttributeError, TypeError, ValueError, IndexError):
        return [None] * len(setup.y)
