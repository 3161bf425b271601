"""Learning rate too small.

Why: every update moves the weights by about the rate times the gradient. With a rate far too small the epochs end before
the loss has gone anywhere, although nothing else is wrong.
Example: `Adam(1e-5)` for 5 epochs. The same training at 1e-3 learns.
Fix: the larger rate that was tried and helps.
Limits: a rate is only called too small when the same training with a larger one ends at least 0.1 of skill higher and
removes 30 % of the remaining error on every kind of rows, and scaling the data does not do the same.
Of a log alone: it has hardly moved, and the rate it notes is one with which no usual optimizer gets anywhere.
Source: Bengio, Practical recommendations for gradient-based training (2012), section 3.1.1; DeepFD (ICSE 2022), fault
“learning rate”. Thresholds: ours, tuned on the benchmark's given and dev cases.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.curves.log_pictures import losses_of, span
from stethoscope.checks.curves.log_shape import shape_of
from stethoscope.checks.curves.remedies import usual_rate
from stethoscope.checks.curves.settings import wrong_setting
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.compile_and_fit import SetLearningRate
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.curves import CurveEvidence

_TINY = 2e-5
"""The largest rate of a log that is called too small whatever the optimizer: 50 times below Adam's default."""
_FIRST = 1e-3
_LITTLE = 0.2
_STILL_POOR = 0.6
_LEAST_POINTS = 5


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    if training is None:
        if evidence.logs is not None:
            yield from _of_log(evidence.logs)
        return
    verdict = wrong_setting(evidence, "rate-up")
    if verdict is None or verdict.remedy.trial.value is None:
        return
    remedy, rate = verdict.remedy, verdict.remedy.trial.value
    was = f"{training.learning_rate:.3g}" if training.learning_rate is not None else "its schedule"
    usual = usual_rate(training.optimizer)
    shown = f"with {rate:.3g}"
    if remedy.trial.id == "adam":
        rate = usual or rate
        shown = f"{rate:.3g} is Keras' default, and with Adam at its default"
    beside = (
        f" (Keras' default is {usual:g})" if usual and training.learning_rate and training.learning_rate < usual else ""
    )
    yield verdict.finding(
        fault=Fault.LEARNING_RATE,
        where="optimizer",
        message=(
            f"{training.optimizer} learns at a rate of {was}{beside}, too small for these "
            f"{training.base[0].steps_done:,} updates: {shown} the skill rises from {remedy.before:.2f} to "
            f"{remedy.after:.2f} (1 is perfect)."
        ),
        fix=SetLearningRate(learning_rate=rate, was=training.learning_rate, optimizer=training.optimizer),
    )


def _of_log(curve: CurveEvidence) -> Iterator[Finding]:
    shape = shape_of(curve)
    rate = max(shape.rates, default=None)
    if rate is None or not 0 < rate <= _TINY or len(shape.loss) < _LEAST_POINTS:
        return
    if not abs(shape.fall) < _LITTLE or (shape.skill is not None and shape.skill >= _STILL_POOR):
        return
    yield Finding(
        fault=Fault.LEARNING_RATE,
        severity=Severity.MEDIUM,
        confidence=0.7,
        where="optimizer",
        message=(
            f"At a learning rate of {rate:.3g} the loss goes from {shape.start:.4g} to {shape.end:.4g} in "
            f"{curve.steps[-1] - curve.steps[0]:,.0f} {curve.unit}s: the rate is too small. Try {_FIRST:g}."
        ),
        evidence=(losses_of(curve), Number("learning rate", rate, threshold=_TINY)),
        fix=SetLearningRate(learning_rate=_FIRST, was=rate),
        marks=span(curve, "loss", curve.steps[0], "hardly moves", curve.steps[-1]),
    )


CHECK = Check(
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    setting=True,
    uses=frozenset({Evidence.ARCHITECTURE, Evidence.DATA, Evidence.FIT}),
    explains=BADLY_TRAINED
    | {"fit-small-batch", "learning-rate-range", "loss-plateau", "null-input", "unchanged-weights", "update-ratio"},
)
