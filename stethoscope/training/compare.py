"""Trains setups side by side and says whether one is better: the same seeds, the same order of rows, paired differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stethoscope.checks.findings import Verdict
from stethoscope.evidence.training import RunCurve
from stethoscope.program.setup import Setup
from stethoscope.training.trainer import Trainer, structure_key

MIN_EFFECT = 0.05
"""Difference in skill that counts."""
SPREADS = 2.0
"""How many standard deviations of the paired differences an effect must exceed."""
SATURATED_SKILL = 0.9
"""Above it a lower loss counts where the skill has no room left."""
MAX_TRAINERS = 4


@dataclass(frozen=True)
class Comparison:
    """`effect` is the mean paired difference in skill (positive: the other is better), `spread` its standard deviation."""

    effect: float
    spread: float
    verdict: Verdict
    gain_train: float
    loss_ratio: float | None
    """Final loss of the other over that of the base; None where either is not finite."""


class Trainers:
    """Live models by structure: a setup that differs only in data, rate, batch size or epochs reuses the traced one."""

    def __init__(self) -> None:
        self._trainers: dict[str, Trainer] = {}

    def of(self, setup: Setup) -> Trainer:
        """The trainer of this structure.

        Raises:
            CannotRun: Keras cannot build the model, a loss or the optimizer.
        """
        key = structure_key(setup)
        if key not in self._trainers:
            if len(self._trainers) >= MAX_TRAINERS:
                del self._trainers[list(self._trainers)[-1]]
            self._trainers[key] = Trainer(setup)
        return self._trainers[key]


def skill_of(curve: RunCurve) -> float:
    """Final skill on validation rows when there are, else on training rows; not finite or below chance counts as 0.

    A step from worse than chance to chance is no gain: nothing is learned either way.
    """
    return _counted(curve.final.val_skill if curve.final.val_skill is not None else curve.final.skill)


def compare(
    base: Sequence[RunCurve], other: Sequence[RunCurve], *, rows: int | None = None, same_loss: bool = True
) -> Comparison:
    """Pairs runs by seed and judges the difference.

    Args:
        base: runs of the training as it is.
        other: runs of the changed training; seeds that the base lacks are left out.
        rows: rows the skill was measured on; on few of them a larger difference is asked for.
        same_loss: whether the losses of both can be compared.
    """
    by_seed = {curve.seed: curve for curve in base}
    pairs = [(by_seed[curve.seed], curve) for curve in other if curve.seed in by_seed]
    if not pairs:
        return Comparison(0.0, 0.0, "skipped", 0.0, None)
    gains = [skill_of(changed) - skill_of(kept) for kept, changed in pairs]
    effect = float(np.mean(gains))
    spread = float(np.std(gains, ddof=1)) if len(gains) > 1 else 0.0
    train = float(np.mean([_counted(changed.final.skill) - _counted(kept.final.skill) for kept, changed in pairs]))
    ratio = _loss_ratio(pairs) if same_loss else None
    least = max(MIN_EFFECT, 1.0 / rows if rows else 0.0) * (1.0 if len(gains) > 1 else 2.0)
    verdict: Verdict = "no_difference"
    if abs(effect) > least and abs(effect) > SPREADS * spread:
        verdict = "helps" if effect > 0 else "worse"
    elif ratio is not None and abs(effect) <= least:
        settled = float(np.mean([skill_of(kept) for kept, _ in pairs])) >= SATURATED_SKILL
        if settled and ratio <= 0.5 and effect >= -0.01:
            verdict = "helps"
    return Comparison(effect, spread, verdict, train, ratio)


def _counted(skill: float) -> float:
    return max(0.0, skill) if math.isfinite(skill) else 0.0


def _loss_ratio(pairs: Sequence[tuple[RunCurve, RunCurve]]) -> float | None:
    before = [kept.final.loss for kept, _ in pairs]
    after = [changed.final.loss for _, changed in pairs]
    if not all(math.isfinite(value) for value in (*before, *after)) or sum(before) <= 0:
        return None
    return float(sum(after) / sum(before))
