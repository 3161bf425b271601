"""Trains setups side by side and says whether one is better: the same seeds, the same order of rows, paired differences.

From two sets of runs to a verdict: helps, no difference, worse, with the effect, its spread and both curves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from stethoscope.checks.findings import Curves, Line, Proof, Verdict
from stethoscope.evidence.training import HeadScore, RunCurve, Scores
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


LOWER_LOSS = 0.8
"""Where skills are equal, a final loss below this share of the other one in every seed decides."""


LEARNED_SKILL = 0.1
"""Below it nothing was learned, and a lower loss is no gain: with softmax over one unit it falls while predictions stay 1."""
_QUANTILES = (6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83)
"""95 % quantiles of Student's t for 2 to 10 pairs."""


@dataclass
class Runs:
    """One side: a curve per seed, or why there is none."""

    curves: list[RunCurve] = field(default_factory=list)
    metric: str = "accuracy"
    held_out: bool = False
    """Whether scores are of validation rows."""
    rows: int = 0
    """Rows the scores are of."""
    metrics: tuple[str, ...] = ()
    """Of several outputs, what each is scored by."""
    epochs: float = 0.0
    epochs_share: float = 1.0
    """Part of the epochs asked for that there was time for."""
    run_s: float = 0.0
    crash: str = ""
    too_slow: str = ""

    @property
    def scores(self) -> tuple[float, ...]:
        """The final score of each seed."""
        return tuple(_score(curve) for curve in self.curves)

    def of_output(self, place: int, name: str) -> Runs:
        """The same runs by the score and skill of one of several outputs."""
        curves = [_rescored(curve, lambda scores: scores.heads[place]) for curve in self.curves]
        return replace(self, curves=curves, metric=f"{self.metrics[place]} of {name}", metrics=(self.metrics[place],))

    def of_all_outputs(self) -> Runs:
        """The same runs by the mean skill of several outputs: their scores are in metrics of their own."""
        return replace(self, curves=[_rescored(curve, _mean_skill) for curve in self.curves], metric="mean skill")


def judged(before: Runs, after: Runs, *, same_loss: bool, honest: bool = False) -> Proof:
    """The proof that two sides give.

    Args:
        before: the training as it is.
        after: the fixed copy.
        same_loss: whether final losses can be compared.
        honest: a lower score is what the fix is for: what made it look good is gone.
    """
    if after.too_slow:
        return Proof("skipped", after.too_slow)
    if after.crash:
        either = " either" if before.crash else ""
        return Proof(
            "no_difference" if before.crash else "worse", f"The fixed copy cannot be trained{either}: {after.crash}"
        )
    metric = f"validation {after.metric}" if after.held_out else after.metric
    seeds = tuple(curve.seed for curve in after.curves)
    paired = [curve for curve in before.curves if curve.seed in seeds]
    # Time may have ended before every seed of the fixed copy was run: only pairs are compared.
    before = replace(before, curves=paired)
    curves = _curves(paired, after.curves, metric)
    found = Proof("helps", "", metric, before.scores, after.scores, seeds=seeds, curves=curves)
    if before.crash:
        finite = all(math.isfinite(score) for score in after.scores)
        reached = (
            f"it trains and reaches {metric} {_number(_mean(after.scores))}"
            if finite
            else "it trains, to a loss of NaN"
        )
        return replace(
            found, verdict="helps" if finite else "no_difference", message=f"{before.crash} With the fix {reached}."
        )
    if (after.metric, after.metrics) != (before.metric, before.metrics) or after.held_out != before.held_out:
        return replace(found, verdict="skipped", message="Not judged: scores before and after are of different kinds.")
    result = compare(before.curves, after.curves, rows=after.rows, same_loss=same_loss)
    least = max(MIN_EFFECT, 3.0 / max(1, after.rows)) * (1.0 if len(seeds) > 1 else 2.0)
    text = _sentence(metric, before.scores, after.scores)
    verdict: Verdict = "no_difference"
    if abs(result.effect) > least:
        if _beyond_luck(before.curves, after.curves, result.effect, result.spread):
            verdict = "helps" if result.effect > 0 else "worse"
        else:
            text += ": it differs too much from seed to seed to say"
    else:
        learned = same_loss and _mean([skill_of(curve) for curve in after.curves]) >= LEARNED_SKILL
        verdict, loss_text = _by_loss(before.curves, after.curves) if learned else ("no_difference", "")
        same = f"{metric} {_number(_mean(before.scores))} → {_number(_mean(after.scores))}: no difference"
        text = loss_text or f"{same} over {_seeds(len(seeds))}"
    if not any(math.isfinite(score) for score in (*before.scores, *after.scores)):
        text = "neither can be scored: the predictions fit no target, or are not finite"
    if verdict == "worse" and honest:
        verdict = "skipped"
        change = f"{metric} {_number(_mean(before.scores))} → {_number(_mean(after.scores))}"
        text = f"{change}: lower because what gave the answer away is gone; the lower score is the true one"
    if before.epochs_share < 1.0:
        text += f" (both cut to {after.epochs:.3g} epochs to fit the time)"
    effect, spread = _paired(before.scores, after.scores)
    return replace(found, verdict=verdict, message=text, effect=effect, spread=spread)


def _paired(before: Sequence[float], after: Sequence[float]) -> tuple[float | None, float | None]:
    """Mean and standard deviation of the differences seed by seed, in the metric's own unit; None without finite pairs."""
    pairs = [
        late - early for early, late in zip(before, after, strict=False) if math.isfinite(early) and math.isfinite(late)
    ]
    if not pairs:
        return None, None
    mean = sum(pairs) / len(pairs)
    return mean, math.sqrt(sum((pair - mean) ** 2 for pair in pairs) / max(1, len(pairs) - 1))


def _beyond_luck(before: Sequence[RunCurve], after: Sequence[RunCurve], effect: float, spread: float) -> bool:
    """Whether a difference is more than seeds explain.

    Source: either a one-sided paired t-test at 5 % (Student's quantiles below), or, from 3 seeds on, every run of one
    side above every run of the other: 1 of 20 or fewer orders of 3 + 3 runs (exact permutation test, 5 %).
    """
    pairs = len(after)
    if pairs < 2:
        return True
    if spread == 0 or abs(effect) * math.sqrt(pairs) / spread >= _QUANTILES[min(pairs, len(_QUANTILES) + 1) - 2]:
        return True
    old, new = [skill_of(curve) for curve in before], [skill_of(curve) for curve in after]
    return pairs >= 3 and (min(new) > max(old) or max(new) < min(old))


def _sentence(metric: str, before: Sequence[float], after: Sequence[float]) -> str:
    better = sum(1 for old, new in zip(before, after, strict=False) if _or_zero(new) > _or_zero(old))
    pairs = min(len(before), len(after))
    return f"{metric} {_number(_mean(before))} → {_number(_mean(after))}, better in {better} of {_seeds(pairs)}"


def _by_loss(before: Sequence[RunCurve], after: Sequence[RunCurve]) -> tuple[Verdict, str]:
    """Judges final losses, of validation rows where there are some."""
    pairs = [(_loss(old), _loss(new)) for old, new in zip(before, after, strict=False)]
    if not pairs or not all(math.isfinite(value) and value > 0 for pair in pairs for value in pair):
        return "no_difference", ""
    lower = sum(1 for old, new in pairs if new < old)
    shown = f"{_number(_mean([old for old, _ in pairs]))} → {_number(_mean([new for _, new in pairs]))}"
    held_out = "validation loss" if after[0].final.val_loss is not None else "loss"
    text = f"the same score, {held_out} {shown}, lower in {lower} of {_seeds(len(pairs))}"
    if len(pairs) > 1 and all(new < LOWER_LOSS * old for old, new in pairs):
        return "helps", text
    if len(pairs) > 1 and all(old < LOWER_LOSS * new for old, new in pairs):
        return "worse", text
    return "no_difference", ""


def _curves(before: Sequence[RunCurve], after: Sequence[RunCurve], metric: str) -> Curves:
    """Scores by epoch, one line per seed; losses where a side has no scores in between."""
    scored = all(len(curve.score_epochs) > 1 for curve in (*before, *after))
    lines: list[Line] = []
    for group, curves in (("before", before), ("after", after)):
        for curve in curves:
            x, y = _by_epoch(curve) if scored else _by_step(curve)
            lines.append(Line(f"{group}, seed {curve.seed}", x, y, group))
    if scored:
        return Curves("Before and after the fix", "epoch", metric, tuple(lines))
    return Curves("Before and after the fix", "step", "loss", tuple(lines))


def _by_epoch(curve: RunCurve) -> tuple[tuple[float, ...], tuple[float, ...]]:
    held_out = len(curve.val_score) == len(curve.score_epochs) > 0
    start = curve.start.val_score if held_out and curve.start.val_score is not None else curve.start.score
    values = curve.val_score if held_out else curve.epoch_score
    x, y = [0.0, *map(float, curve.score_epochs)], [start, *values]
    if curve.epochs_done > x[-1]:
        x.append(float(curve.epochs_done))
        y.append(_score(curve))
    return tuple(x), tuple(y)


def _by_step(curve: RunCurve) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(float(step) for step in curve.steps), curve.loss


def _rescored(curve: RunCurve, head: Callable[[Scores], HeadScore]) -> RunCurve:
    """The run with its first and last scores by other means; between them there are none."""

    def seen(scores: Scores) -> Scores:
        if not scores.heads:
            return scores
        by = head(scores)
        return replace(scores, score=by.score, skill=by.skill, val_score=by.val_score, val_skill=by.val_skill)

    return replace(
        curve, start=seen(curve.start), final=seen(curve.final), epoch_score=(), val_score=(), score_epochs=()
    )


def _mean_skill(scores: Scores) -> HeadScore:
    return HeadScore(scores.skill, scores.skill, scores.val_skill, scores.val_skill)


def _score(curve: RunCurve) -> float:
    return curve.final.score if curve.final.val_score is None else curve.final.val_score


def _loss(curve: RunCurve) -> float:
    return curve.final.loss if curve.final.val_loss is None else curve.final.val_loss


def _or_zero(value: float) -> float:
    return value if math.isfinite(value) else -math.inf


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "NaN"
    return f"{value:.2f}" if 0.01 <= abs(value) < 100 or value == 0 else f"{value:.3g}"


def _seeds(count: int) -> str:
    return "1 seed" if count == 1 else f"{count} seeds"
