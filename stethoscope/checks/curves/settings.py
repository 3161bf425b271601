"""Which training settings are wrong: the verdict that the checks of rate, epochs, batch size and optimizer share.

One place decides, so that one program is not told four things: the setting whose change helps most is named, a second one
only when its change helps about as much, the others are remarks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from stethoscope.architecture.losses import REGRESSION_LOSSES
from stethoscope.checks.curves.log_pictures import gain_numbers, gains, losses
from stethoscope.checks.curves.remedies import (
    AS_GOOD,
    CLEARLY_WORKS,
    GOOD_SKILL,
    LEAST_GAIN,
    NOTHING_LEARNED,
    Kind,
    Remedy,
    base_skill,
    best,
    broke,
    data_explains,
    gain_of,
    remedies,
    usual_rate,
)
from stethoscope.checks.curves.shapes import end_level, runs_away, still_falling
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.fix import Fix
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.evidence.training import RunCurve, TrainingEvidence

_CLEARLY_BETTER = 1.25
"""How much more another kind of change must gain before it is taken for the cause. Source: ours, given and dev cases."""
_CLEAR_FALL = 0.05
"""Share of the loss that a continued run must take off to count as still falling. Source: ours."""
_FEW_STEPS = 100
"""So few updates in all are too few for nearly any network: then that is the fault, and not a rate at its default."""
_LEAST_STEPS = 50
_FEW_UPDATES, _HUGE_BATCH = 4, 128
"""A batch above the second that leaves at most the first number of updates per epoch is suspect by itself."""
_FAR_LONGER = 20.0
"""Training this many times longer helps nearly everything that was stopped early; it says less than a smaller change."""
_FAIR_SKILL = 0.8
"""Above it what other settings would add is a remark. Source: ours, given and dev cases."""
_UNUSUALLY_HIGH = 30.0
_UNUSUAL = 10.0
"""A rate this many times below (or above) the optimizer's default is unusual whatever the data. Source: ours."""


@dataclass(frozen=True)
class Verdict:
    """One setting that is wrong."""

    training: TrainingEvidence
    remedy: Remedy
    severity: Severity
    confidence: float
    tried: tuple[Remedy, ...]
    """Everything that was tried, best first."""
    reason: str
    """What the base run looks like: "diverges", "breaks", "" …"""

    def finding(self, fault: Fault, where: str, message: str, fix: Fix) -> Finding:
        """The setting as a finding, with what its change and the others gave."""
        return Finding(
            fault=fault,
            severity=self.severity,
            confidence=self.confidence,
            where=where,
            message=message,
            evidence=(
                losses(self.training, self.remedy),
                *gain_numbers(self.remedy, LEAST_GAIN),
                gains(self.training, self.tried),
            ),
            fix=fix,
        )


def wrong_setting(evidence: EvidenceSet, kind: Kind) -> Verdict | None:
    """The verdict on one setting; None when it is not to be named."""
    training = evidence.training
    if training is None or training.crashed or not training.base or base_skill(training) >= GOOD_SKILL:
        return None
    tried = remedies(training)
    named = _candidates(training, tried)
    remedy = next((one for one in named if one.kind == kind), None)
    if remedy is None:
        return None
    top = max(named, key=lambda one: one.gain)
    reason = _state(training)
    severity, confidence = Severity.MEDIUM, 0.6
    odd = unusual(training, kind)
    lesser = (
        remedy is not top and remedy.gain < AS_GOOD * top.gain and not (kind == "epochs" and _few_updates(training))
    )
    excused = data_explains(tried, remedy) or _not_the_rate(training, kind, named) or _slowed_by_loss(evidence)
    if lesser or (excused and not odd) or base_skill(training) >= _FAIR_SKILL:
        severity, confidence = Severity.LOW, 0.3
    elif _outdone(tried, remedy):
        severity, confidence = Severity.LOW, 0.35
    elif kind == "rate-down" and reason and remedy.after >= CLEARLY_WORKS:
        severity, confidence = (Severity.CRITICAL if broke(training) else Severity.HIGH), 0.85
    elif odd and remedy.before <= NOTHING_LEARNED and remedy.after >= CLEARLY_WORKS:
        severity, confidence = Severity.HIGH, 0.85
    elif remedy is top and remedy.rescues:
        severity, confidence = Severity.HIGH, 0.75
    elif odd or (kind == "batch" and _huge_batch(training)):
        confidence = 0.75
    elif kind == "epochs" and (remedy.trial.value or 0) > _FAR_LONGER * (training.epochs_asked or 1):
        confidence = 0.5
    return Verdict(training, remedy, severity, confidence, tried, reason)


def unusual(training: TrainingEvidence, kind: Kind) -> bool:
    """Whether the rate is far from the optimizer's default on the side that `kind` would correct."""
    usual, rate = usual_rate(training.optimizer), training.learning_rate
    if usual is None or rate is None or not rate > 0:
        return False
    return rate <= usual / _UNUSUAL if kind == "rate-up" else kind == "rate-down" and rate >= usual * _UNUSUALLY_HIGH


def falls_at_the_end(training: TrainingEvidence) -> bool:
    """Whether the loss of most base runs still falls when they end.

    Where the same run was continued, what follows tells best; else the last third of the curve does.
    """
    longer = training.trial("longer")
    if longer is not None and longer.runs:
        votes = [_went_on_falling(training, run) for run in longer.runs]
        return sum(votes) * 2 > len(votes)
    votes = [still_falling(run.epoch_loss if len(run.epoch_loss) >= 6 else run.loss) for run in training.base]
    return sum(votes) * 2 > len(votes)


def _went_on_falling(training: TrainingEvidence, longer: RunCurve) -> bool:
    """Whether the continued run's loss ends clearly below where the base ended."""
    base = next((run for run in training.base if run.seed == longer.seed), None)
    if base is None:
        return False
    own = [loss for step, loss in zip(longer.steps, longer.loss, strict=True) if step <= base.steps_done]
    return bool(own) and end_level(longer.loss) < (1 - _CLEAR_FALL) * end_level(own)


def _candidates(training: TrainingEvidence, tried: tuple[Remedy, ...]) -> list[Remedy]:
    up, down = best(tried, "rate-up"), best(tried, "rate-down")
    if up is not None and down is not None:
        up, down = (up, None) if up.gain > down.gain else (None, down)
    epochs = best(tried, "epochs")
    if epochs is not None and (
        not training.complete or training.epochs_asked is None or not falls_at_the_end(training)
    ):
        epochs = None
    rate_gain = max(gain_of(up), gain_of(down))
    optimizer = best(tried, "optimizer")
    if optimizer is not None and unusual(training, "rate-up") and not _default_tried(training):
        up, optimizer = up or replace(optimizer, kind="rate-up"), None
    elif optimizer is not None and unusual(training, "rate-down") and not _default_tried(training):
        down, optimizer = down or replace(optimizer, kind="rate-down"), None
    if optimizer is not None and rate_gain >= AS_GOOD * optimizer.gain:
        optimizer = None
    batch = best(tried, "batch")
    if batch is not None and batch.gain < (AS_GOOD if _huge_batch(training) else _CLEARLY_BETTER) * max(
        rate_gain, gain_of(epochs)
    ):
        batch = None
    return [one for one in (up, down, epochs, optimizer, batch) if one is not None]


def _not_the_rate(training: TrainingEvidence, kind: Kind, named: list[Remedy]) -> bool:
    """Whether a rate or optimizer that helps only makes up for too few updates: those asked for, or those time allowed."""
    if kind not in ("rate-up", "optimizer"):
        return False
    if any(run.stopped == "time" for run in training.base[:1]):
        return base_skill(training) > NOTHING_LEARNED or training.base[0].steps_done < _LEAST_STEPS
    others = any(one.kind in ("epochs", "batch") for one in named) or training.trial("longer") is None
    return kind == "rate-up" and _few_updates(training) and others


def _default_tried(training: TrainingEvidence) -> bool:
    """Whether a rate within three times the optimizer's default was among the trials: then the rate is not what is wrong."""
    usual = usual_rate(training.optimizer)
    rates = [trial.value for trial in training.trials if trial.id.startswith("rate-") and trial.value]
    return usual is not None and any(usual / 3 <= rate <= usual * 3 for rate in rates)


def _slowed_by_loss(evidence: EvidenceSet) -> bool:
    """Whether classes are learned with a loss for numbers, whose gradient fades: a larger rate makes up for that."""
    return any(head.task in ("binary", "multiclass") and head.loss in REGRESSION_LOSSES for head in evidence.heads)


def _few_updates(training: TrainingEvidence) -> bool:
    return training.base[0].steps_done < _FEW_STEPS


def _huge_batch(training: TrainingEvidence) -> bool:
    return training.batch_size > _HUGE_BATCH and training.steps_per_epoch <= _FEW_UPDATES


def _outdone(tried: tuple[Remedy, ...], remedy: Remedy) -> bool:
    """Whether another activation or a larger network gains so much more that the settings are not what is wrong.

    Another activation that gains more in the updates asked for than many more updates do says that those were enough.
    """
    rival, activation = best(tried, "activation", "capacity"), best(tried, "activation")
    if remedy.kind == "epochs" and activation is not None and activation.gain > remedy.gain:
        return True
    return rival is not None and rival.gain >= _CLEARLY_BETTER * remedy.gain


def _state(training: TrainingEvidence) -> str:
    if broke(training):
        steps = [run.nonfinite_step for run in training.base if run.nonfinite_step is not None]
        return f"the loss stops being a number at step {min(steps)}" if steps else "the loss stops being a number"
    away = [run for run in training.base if runs_away(run.loss)]
    if away:
        worst = max(away, key=lambda run: run.max_loss if math.isfinite(run.max_loss) else 0.0)
        return f"the loss grows from {worst.loss[0]:.3g} to {worst.loss[-1]:.3g}"
    return ""
