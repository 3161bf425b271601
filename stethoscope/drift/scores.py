"""The score on both sides, of a model or of a log: how far it is apart, with intervals, and what that says of the inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.drift.pairing import Feature
from stethoscope.drift.settings import PSI_LARGE, PSI_SMALL, Effect
from stethoscope.evidence.row_scores import RowScores

Array = npt.NDArray[Any]
RIGHT, WRONG = "right", "wrong"
POINTS_SMALL, POINTS_LARGE = 0.01, 0.05
"""Change of a share that is right from which it is small, and large."""
SHARE_SMALL, SHARE_LARGE = 0.05, 0.25
"""Change of a mean error, as a share of what it was, from which it is small, and large."""
ScoredBy = Literal["model", "log", "simple model"]
SIMPLE = "accuracy of a simple model", "error of a simple model"
"""Names of the feature that a model trained on the reference gives."""
_Z = 1.959964


@dataclass(frozen=True)
class SideScore:
    """The score of one side with its 95 % interval."""

    value: float
    low: float
    high: float
    rows: int


@dataclass(frozen=True)
class ScoreChange:
    """The score of both sides. `p_adjusted` is corrected with all features; the interval of the change is one of 95 %."""

    name: str
    """Of the feature that was tested."""
    measure: str
    """"accuracy", "mean absolute error", …"""
    by: ScoredBy
    """Whose predictions were scored; a simple model is trained on half of the reference, and scored on the rest."""
    reference: SideScore
    current: SideScore
    change: float
    low: float
    high: float
    p_adjusted: float
    drifted: bool
    effect: Effect
    better: bool
    """Whether a change is one for the better."""
    inputs_drifted: bool | None
    """Whether anything that is known without labels drifted; None where there are no inputs to compare."""

    @property
    def concept(self) -> bool:
        """Whether only what belongs to the inputs has changed, as far as can be told."""
        return self.drifted and self.inputs_drifted is False


def feature_of(scores: RowScores, count: int, name: str = "") -> Feature:
    """Scores of the reference's first `count` rows and of the others, as a feature that is tested."""
    first = scores.rows < count
    sides = scores.values[first], scores.values[~first]
    shown = name or scores.measure.replace("mean absolute", "absolute")
    if scores.whole:
        names = np.array([WRONG, RIGHT], object)
        return Feature(shown, "category", "correctness", *(names[side.astype(int)] for side in sides))
    return Feature(shown, "number", "correctness", *sides)


def effect_of(feature: Feature) -> Effect:
    """How large a change of the score is: in points of a share, or as a share of an error."""
    first, second = (_values(side) for side in (feature.reference, feature.current))
    if not len(first) or not len(second):
        return "negligible"
    change = abs(float(second.mean()) - float(first.mean()))
    small, large = POINTS_SMALL, POINTS_LARGE
    if "error" in feature.name:
        small, large = SHARE_SMALL, SHARE_LARGE
        change = change / float(first.mean()) if first.mean() else math.inf if change else 0.0
    return "negligible" if change < small else "small" if change < large else "large"


def counts(effect: Effect, min_effect: float) -> bool:
    """Whether a change of the score is of the size that was asked for, which is given as a PSI."""
    least = 0 if min_effect < PSI_SMALL else 1 if min_effect < PSI_LARGE else 2
    return ("negligible", "small", "large").index(effect) >= least


def score_change(
    feature: Feature, by: ScoredBy, p_adjusted: float, *, drifted: bool, inputs_drifted: bool | None
) -> ScoreChange | None:
    """The score of both sides of a feature of correctness; None where a side has none."""
    first, second = (_values(side) for side in (feature.reference, feature.current))
    if not len(first) or not len(second):
        return None
    share = feature.kind == "category"
    reference, current = (_share(side) if share else _mean(side) for side in (first, second))
    change = current.value - reference.value
    if share:
        # Newcombe, Statistics in Medicine 17 (1998), method 10: the hybrid of two score intervals.
        below = math.hypot(current.value - current.low, reference.high - reference.value)
        above = math.hypot(current.high - current.value, reference.value - reference.low)
    else:
        below = above = _Z * math.sqrt(sum(float(side.var()) / len(side) for side in (first, second)))
    error = "error" in feature.name
    return ScoreChange(
        name=feature.name,
        measure="mean absolute error" if error else feature.name.removesuffix(" of a simple model"),
        by=by,
        reference=reference,
        current=current,
        change=change,
        low=change - below,
        high=change + above,
        p_adjusted=p_adjusted,
        drifted=drifted,
        effect=effect_of(feature),
        better=(change < 0) == error and change != 0,
        inputs_drifted=inputs_drifted,
    )


def wilson(share: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share. Source: Wilson, JASA 22 (1927)."""
    middle = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    half = _Z / (1 + _Z**2 / count) * math.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def _values(side: Array) -> npt.NDArray[np.float64]:
    return side.astype(np.float64) if side.dtype.kind in "fiub" else (side.astype(str) == RIGHT).astype(np.float64)


def _share(side: npt.NDArray[np.float64]) -> SideScore:
    value = float(side.mean())
    return SideScore(value, *wilson(value, len(side)), len(side))


def _mean(side: npt.NDArray[np.float64]) -> SideScore:
    value, half = float(side.mean()), _Z * float(side.std()) / math.sqrt(len(side))
    return SideScore(value, max(0.0, value - half), value + half, len(side))
