"""The loss swings.

Why: updates overshoot the bottom of the valley again and again, or batches are so small that each pulls another way.
Example: `SGD(0.5, momentum=0.9)`; `batch_size=1` at an ordinary rate.
Fix: a rate several times smaller, or larger batches.
Limits: noise between batches is normal: swings are compared with the size of the loss at the start, and a network that
learns well anyway is left alone.
Source: AUTOTRAINER (ICSE 2021), “oscillating loss”. Thresholds: ours.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.curves.pictures import curve
from stethoscope.curves.remedies import GOOD_SKILL, remedies
from stethoscope.curves.run_quality import learned_share
from stethoscope.curves.shapes import end_level, finite, runs_away, start_level, swing
from stethoscope.evidence.curves import CurveEvidence
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.findings import Fault, Finding, Number, Severity
from stethoscope.fixes.advice import Advice
from stethoscope.fixes.fix import Fix
from stethoscope.fixes.set_batch_size import SetBatchSize
from stethoscope.fixes.set_learning_rate import SetLearningRate

_LEAST_POINTS = 8
_AMPLITUDE = 0.1
"""Height of a typical swing over the loss at the start."""
_TURNING = 0.4
"""Share of points that are a peak or trough: a swing of five points or shorter."""
_SMALL_BATCH = 4
_SOME_GAIN = 0.05
"""Gain in skill of a smaller rate or larger batches that shows the swings do harm."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    found = [one for one in evidence.curves if len(_by_epoch(evidence, one)) >= _LEAST_POINTS]
    swinging = [one for one in found if _swings(_by_epoch(evidence, one))]
    if not swinging or len(swinging) * 2 <= len(found):
        return
    one = swinging[0]
    learned = learned_share(evidence, one)
    if learned is not None and learned >= GOOD_SKILL:
        return
    values = _by_epoch(evidence, one)
    height, period = swing(values).amplitude * abs(end_level(values)), swing(values).period
    fault, fix = _blame(evidence)
    tried = remedies(evidence.training) if evidence.training is not None else ()
    eased = any(remedy.kind in ("rate-down", "batch") and remedy.gain >= _SOME_GAIN for remedy in tried)
    short = one.source == "short run"
    yield Finding(
        check_id=CHECK.id,
        fault=fault,
        severity=Severity.MEDIUM if eased or not short else Severity.LOW,
        confidence=0.5,
        where="loss",
        message=(
            f"The loss swings up and down by {height:.3g} about every {period:.0f} epochs (it began at "
            f"{start_level(values):.3g}): updates overshoot."
        ),
        evidence=(
            curve(one),
            Number("swing over the loss at the start", height / start_level(values), threshold=_AMPLITUDE),
            Number("share of turning points", swing(values).turning_share, threshold=_TURNING),
        ),
        fix=fix,
    )


def _by_epoch(evidence: EvidenceSet, found: CurveEvidence) -> tuple[float, ...]:
    if found.source == "short run" and evidence.training is not None:
        runs = [run for run in evidence.training.base if f"seed {run.seed}" == found.run]
        return runs[0].epoch_loss if runs else ()
    return found.loss if found.unit == "epoch" else ()


def _swings(values: tuple[float, ...]) -> bool:
    if len(finite(values)) < len(values) or runs_away(values):
        return False
    seen, start = swing(values), start_level(values)
    return (
        start > 0 and seen.turning_share >= _TURNING and seen.amplitude * abs(end_level(values)) >= _AMPLITUDE * start
    )


def _blame(evidence: EvidenceSet) -> tuple[Fault, Fix]:
    training = evidence.training
    if training is None:
        return Fault.LEARNING_RATE, Advice(text="Divide the learning rate by 3 to 10, or use larger batches.")
    if training.batch_size < _SMALL_BATCH:
        return Fault.BATCH_SIZE, SetBatchSize(batch_size=32, was=training.batch_size)
    rate = (training.learning_rate or 1e-3) / 10
    return Fault.LEARNING_RATE, SetLearningRate(rate, was=training.learning_rate, optimizer=training.optimizer)


CHECK = Check(
    id="loss-oscillating",
    title="The loss swings",
    needs=frozenset(),
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    symptom=True,
)
