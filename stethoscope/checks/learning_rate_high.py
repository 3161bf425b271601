"""Learning rate too large.

Why: updates that overshoot make the loss jump, grow or turn into NaN, or kill units for good, and the network ends worse
than a smaller rate would leave it.
Example: `SGD(3.0)`, or `Adam(0.1)` on a deep network.
Fix: the smaller rate that was tried and helps.
Limits: named when the same training with a smaller rate ends clearly better. When scaling the data does the same and
the rate is a usual one, the data's scale is the cause and this is only a remark.
Source: Bengio, Practical recommendations for gradient-based training (2012), section 3.1.1; AUTOTRAINER (ICSE 2021),
“oscillating loss”, “exploding gradient”. Thresholds: ours, tuned on the benchmark's given and dev cases.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.curves.pictures import gain_numbers, gains, losses
from stethoscope.curves.remedies import LEAST_GAIN, usual_rate
from stethoscope.curves.settings import wrong_setting
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.findings import Fault, Finding
from stethoscope.fixes.set_learning_rate import SetLearningRate


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    verdict = wrong_setting(evidence, "rate-down")
    if training is None or verdict is None or verdict.remedy.trial.value is None:
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
    yield Finding(
        check_id=CHECK.id,
        fault=Fault.LEARNING_RATE,
        severity=verdict.severity,
        confidence=verdict.confidence,
        where="optimizer",
        message=(
            f"{training.optimizer} learns at a rate of {was}{beside}, too large for this network: {effect} "
            f"the skill is {remedy.after:.2f} instead of {remedy.before:.2f} (1 is perfect)."
        ),
        evidence=(
            losses(training, remedy),
            *gain_numbers(remedy, LEAST_GAIN),
            gains(training, verdict.tried),
        ),
        fix=SetLearningRate(learning_rate=rate, was=training.learning_rate, optimizer=training.optimizer),
    )


CHECK = Check(
    id="learning-rate-high",
    title="Learning rate too large",
    needs=frozenset({Evidence.TRAINING}),
    run=_run,
    setting=True,
    uses=frozenset({Evidence.ARCHITECTURE, Evidence.DATA, Evidence.FIT}),
    explains=frozenset(
        {
            "nonfinite-training", "exploding-gradient", "loss-diverging", "loss-oscillating", "loss-flat", "loss-slow",
            "dead-relu", "saturation", "update-ratio", "unchanged-weights", "vanishing-gradient", "fit-small-batch",
            "constant-output", "worse-than-baseline", "underfitting", "learning-rate-range", "per-class-error",
            "null-input",
        }
    ),
)  # fmt: skip
