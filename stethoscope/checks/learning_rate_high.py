"""Learning rate too large.

Why: updates that overshoot make the loss jump, grow or turn into NaN, or kill units for good, and the network ends worse
than a smaller rate would leave it.
Example: `SGD(3.0)`, or `Adam(0.1)` on a deep network.
Fix: the smaller rate that was tried and helps.
Limits: named when the same training with a smaller rate ends clearly better. When scaling the data does the same and
the rate is a usual one, the data's scale is the cause and this is only a remark.
Of a log alone: the first updates threw it far off, and from then on it is stuck at what guessing gives.
Source: Bengio, Practical recommendations for gradient-based training (2012), section 3.1.1; AUTOTRAINER (ICSE 2021),
“oscillating loss”, “exploding gradient”. Thresholds: ours, tuned on the benchmark's given and dev cases.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from stethoscope.checks.check import BADLY_TRAINED, IDLE_WEIGHTS, UNSTEADY_LOSS, WILD_UPDATES, Check
from stethoscope.checks.curves.log_pictures import losses_of, lower_rate, span
from stethoscope.checks.curves.log_shape import shape_of
from stethoscope.checks.curves.remedies import usual_rate
from stethoscope.checks.curves.settings import wrong_setting
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.compile_and_fit import SetLearningRate
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.curves import CurveEvidence

_THROWN = 1.1
_AT_ONCE = 0.015
"""Validation after the first epoch is this near to where it stays: all of it happened within that epoch."""
_LARGE = 0.1
_SOME_SKILL = 0.1
_LEAST_POINTS = 5


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    if training is None:
        if evidence.logs is not None:
            yield from _of_log(evidence.logs)
        return
    verdict = wrong_setting(evidence, "rate-down")
    if verdict is None or verdict.remedy.trial.value is None:
        return
    remedy, rate = verdict.remedy, verdict.remedy.trial.value
    was = f"{training.learning_rate:.3g}" if training.learning_rate is not None else "its schedule"
    usual = usual_rate(training.optimizer)
    beside = (
        f" (Keras' default is {usual:g})" if usual and training.learning_rate and training.learning_rate > usual else ""
    )
    shown = f"with {rate:.3g}"
    if remedy.trial.id == "adam":
        rate = usual or rate
        shown = f"{rate:.3g} is Keras' default, and with Adam at its default"
    effect = f"{verdict.reason}; {shown}" if verdict.reason else shown
    yield verdict.finding(
        fault=Fault.LEARNING_RATE,
        where="optimizer",
        message=(
            f"{training.optimizer} learns at a rate of {was}{beside}, too large for this network: {effect} "
            f"the skill is {remedy.after:.2f} instead of {remedy.before:.2f} (1 is perfect)."
        ),
        fix=SetLearningRate(learning_rate=rate, was=training.learning_rate, optimizer=training.optimizer),
    )


def _of_log(curve: CurveEvidence) -> Iterator[Finding]:
    shape = shape_of(curve)
    if len(shape.loss) < _LEAST_POINTS or not shape.still or len(shape.loss) < len(curve.overview.loss):
        return
    if max(shape.skill or 0.0, shape.val_skill or 0.0) >= _SOME_SKILL:
        return
    level = statistics.median(shape.loss[1:])
    if level <= 0:
        return
    held = [value for value in curve.overview.val_loss if math.isfinite(value)]
    thrown = shape.loss[0] > _THROWN * level and (
        not held or abs(held[0] - statistics.median(held)) <= _AT_ONCE * abs(statistics.median(held))
    )
    large = shape.rate is not None and shape.rate >= _LARGE
    if shape.score and not (thrown or large):
        return
    if not shape.score and not (thrown and large):
        return
    rate = f" at a rate of {shape.rate:.3g}" if shape.rate is not None else ""
    said = (
        f"the first updates throw the loss to {shape.loss[0]:.4g} on average"
        if thrown
        else "the first updates overshoot"
    )
    yield Finding(
        fault=Fault.LEARNING_RATE,
        severity=Severity.MEDIUM,
        confidence=0.6 if thrown and large else 0.45,
        where="optimizer",
        message=(
            f"The learning rate looks too large: {said}{rate}, and from the second {curve.unit} on it is stuck at {level:.4g}, "
            "where nothing is learned."
        ),
        evidence=(
            losses_of(curve),
            Number("first loss over the level it is stuck at", shape.loss[0] / level, threshold=_THROWN),
        ),
        fix=lower_rate(shape, 100 if large else 10, "Divide the learning rate by 10, and again if that does not help."),
        marks=span(curve, "loss", curve.steps[0], "thrown off, then stuck", curve.steps[-1]),
    )


CHECK = Check(
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    setting=True,
    uses=frozenset({Evidence.ARCHITECTURE, Evidence.DATA, Evidence.FIT}),
    explains=BADLY_TRAINED
    | UNSTEADY_LOSS
    | IDLE_WEIGHTS
    | WILD_UPDATES
    | {"fit-small-batch", "learning-rate-range", "loss-jump", "loss-plateau", "null-input", "saturation"},
)
