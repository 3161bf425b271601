"""The loss falls very slowly.

Why: at this pace the epochs end long before the network is done: rate too small, too few epochs, or badly scaled inputs.
Example: `Adam(1e-6)`: after 20 epochs the loss has fallen by 2 %. Or: it has fallen by 40 %, as evenly at the end as at the start.
Fix: a larger rate, tried first at ten times the present one; or more epochs.
Limits: a curve alone cannot tell which of the causes holds; with data, the trials of the short run can. A loss that has lost more
than a fifth is named only where less than half of it is gone (60 % at most), nearly every epoch is lower than the one before, and
training and validation both lose in their last third 30 % of what they lost in their first: an exponential approach that does
so has a sixth of its way still before it (0.3 ** 1.5).
Source: AUTOTRAINER (ICSE 2021), “slow convergence”. Thresholds: ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from stethoscope.checks.check import Check
from stethoscope.checks.curves.jumps import jumps
from stethoscope.checks.curves.log_pictures import curve, higher_rate, losses_of, span
from stethoscope.checks.curves.log_shape import LogShape, evenness, fall_within, falls_steadily, learned_share, shape_of
from stethoscope.checks.curves.remedies import CLEARLY_WORKS
from stethoscope.checks.curves.shapes import end_level, fall, finite, is_flat, start_level, still_falling
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.compile_and_fit import SetLearningRate
from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.curves import CurveEvidence

_LEAST_POINTS = 8
_LEAST_OF_A_LOG = 6
_HARDLY = 0.02
_LITTLE = 0.2
"""A loss that has lost less than this share of its start …"""
_EVEN = 0.2
"""… and loses at least this share of all it lost in its last third, is still on its way."""


_STILL_POOR = 0.6

_FAR = 0.6
"""Of a log: a loss that has lost more than this share may still fall, but is on its way to the end."""
_NOT_WELL = 0.8
"""Skill from which a training that still improves is left alone."""
_ON_ITS_WAY, _ALONE = 0.3, 0.4
"""Fall in the last third over that in the first: with validation that agrees, and without."""
_STILL = 0.03
"""Share of its last value that it loses in its last third."""
_DOWNWARD = 0.8
"""Share of the steps from point to point that lead downwards."""
_WARMS_UP = 0.5


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.logs is not None:
        yield from _of_log(evidence.logs)
        return
    found = [one for one in evidence.curves if len(finite(one.loss)) >= _LEAST_POINTS and one.complete]
    slow = [
        one
        for one in found
        if 0 < fall(one.loss) < _LITTLE and still_falling(one.loss, _EVEN) and not is_flat(one.loss, 0.005)
    ]
    if not slow or len(slow) * 2 <= len(found):
        return
    one = slow[0]
    learned = learned_share(evidence, one)
    if learned is not None and learned >= CLEARLY_WORKS:
        return
    training = evidence.training
    rate = one.learning_rate[-1] if one.learning_rate else (training.learning_rate if training is not None else None)
    optimizer = training.optimizer if training is not None else ""
    fix: Fix = Advice(text="Multiply the learning rate by 10 and see whether the loss falls faster; then train longer.")
    if rate:
        fix = SetLearningRate(rate * 10, was=rate, optimizer=optimizer)
    yield Finding(
        fault=Fault.LEARNING_RATE,
        severity=Severity.LOW,
        confidence=0.4,
        where="loss",
        message=(
            f"The loss falls so slowly that {one.steps[-1]:,.0f} {one.unit}s take it from {start_level(one.loss):.4g} to "
            f"{end_level(one.loss):.4g} only, and it is still falling."
        ),
        evidence=(curve(one), Number("share of the loss that is gone", fall(one.loss), threshold=_LITTLE)),
        fix=fix,
    )


def _of_log(curve: CurveEvidence) -> Iterator[Finding]:
    shape = shape_of(curve)
    if len(shape.loss) < _LEAST_OF_A_LOG:
        return
    if shape.fall >= _LITTLE:
        if _ends_on_its_way(shape):
            yield _ended_early(curve, shape)
        return
    if not falls_steadily(shape) or (shape.skill is not None and shape.skill >= _STILL_POOR):
        return
    factor = 100 if shape.fall < _HARDLY else 10
    yield Finding(
        fault=Fault.LEARNING_RATE,
        severity=Severity.MEDIUM,
        confidence=0.6,
        where="loss",
        message=(
            f"The loss falls so slowly that {curve.steps[-1] - curve.steps[0]:,.0f} {curve.unit}s take it from "
            f"{shape.start:.4g} to {shape.end:.4g} only, and it falls as evenly at the end as at the start: the learning rate is "
            "too small for so short a training, or the data are badly scaled."
        ),
        evidence=(losses_of(curve), Number("share of the loss that is gone", shape.fall, threshold=_LITTLE)),
        fix=higher_rate(
            shape,
            factor,
            f"Multiply the learning rate by {factor} and see whether the loss falls faster; then train longer.",
        ),
        marks=span(curve, "loss", curve.steps[0], "falls very slowly", curve.steps[-1]),
    )


def _ends_on_its_way(shape: LogShape) -> bool:
    """Whether the run ends in the middle of an even fall, far from done, in training and validation alike."""
    curve = shape.curve
    if len(shape.loss) < _LEAST_POINTS or len(shape.loss) < len(curve.loss) or shape.fall > _FAR:
        return False
    if (shape.skill is not None and shape.skill >= _NOT_WELL) or _warms_up(shape.rates) or curve.restarts:
        return False
    if jumps([step for step, _ in shape.points], shape.loss):
        return False
    held = finite(curve.val_loss)
    seen = len(held) >= _LEAST_POINTS
    both = [shape.loss, *([held] if seen else [])]
    return _mostly_downward(both[-1]) and all(
        evenness(values) >= (_ON_ITS_WAY if seen else _ALONE) and still_falling(values) and _loses(values)
        for values in both
    )


def _loses(values: Sequence[float]) -> bool:
    return fall_within(values[-(len(values) // 3) - 1 :]) >= _STILL * abs(end_level(values))


def _mostly_downward(values: Sequence[float]) -> bool:
    return sum(after < before for before, after in itertools.pairwise(values)) >= _DOWNWARD * (len(values) - 1)


def _warms_up(rates: Sequence[float]) -> bool:
    """Whether the rate rises over the first third: then an even fall is what the schedule makes."""
    return len(rates) > 1 and max(rates[: max(1, len(rates) // 3)]) <= _WARMS_UP * max(rates)


def _ended_early(curve: CurveEvidence, shape: LogShape) -> Finding:
    even = evenness(shape.loss)
    score = f", with {curve.metric_name} at {end_level(shape.score):.2f}" if shape.score else ""
    return Finding(
        fault=Fault.EPOCHS,
        severity=Severity.MEDIUM,
        confidence=0.5,
        where="fit",
        title="The training ends while the loss still falls",
        message=(
            f"The loss falls evenly from {shape.start:.4g} to {shape.end:.4g}{score} and has hardly slowed when the run ends: its last "
            f"third brings {even:.0%} of what its first third brought. There were too few {curve.unit}s for this learning rate, or the "
            "rate is too small."
        ),
        evidence=(
            losses_of(curve),
            Number("fall in the last third over that in the first", even, threshold=_ON_ITS_WAY),
        ),
        fix=higher_rate(shape, 3, "Train three times as long, or multiply the learning rate by 3 and compare."),
        marks=span(curve, "loss", curve.steps[0], "falls evenly to the end", curve.steps[-1]),
    )


CHECK = Check(needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}), run=_run, symptom=True)
