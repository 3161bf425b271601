"""The loss stops falling too early.

Why: a loss that is flat for most of the epochs brings nothing for their cost. Where the learning rate had died away by then, the
network could have gone on: the schedule ended the training, not the task.
Example: `ExponentialDecay` that multiplies the rate by 0.35 every epoch: after five epochs nothing moves any more.
Fix: a schedule that reaches its end with the last epoch, or one that waits for the loss (ReduceLROnPlateau).
Limits: named where the logged rate has fallen below a hundredth of its largest before the middle of the run and the loss stays
where it is from then on, or where the loss does not change in the fourth digit for the rest of the run; a long flat stretch that is followed by a further fall is a remark.
Source: Loshchilov and Hutter, SGDR (2017), on schedules that end with the training; Dauphin et al., Saddle points (2014), on
plateaus that end. Thresholds: ours.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.curves.log_pictures import losses_of, span
from stethoscope.checks.curves.log_shape import LogShape, shape_of, smoothed
from stethoscope.checks.findings import Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.curves import CurveEvidence

_LEAST_POINTS = 8
_DEAD = 0.01
"""A rate below this share of the largest moves next to nothing."""
_EARLY = 0.6
"""Share of the run by which it has died."""
_MOVES = 0.02
_LEFT = 0.05
"""Share of the first loss that is still there."""
_WELL = 0.9
_SAME = 2e-4
_MUCH_LEFT = 0.1
_FLAT_SHARE = 0.25
_FALLS_AGAIN = 0.3


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.logs is None:
        return
    curve = evidence.logs
    shape = shape_of(curve)
    if len(shape.loss) < _LEAST_POINTS:
        return
    died = _rate_dies(shape)
    if died is not None:
        yield _dead(curve, shape, died)
        return
    frozen = _freezes(shape)
    if frozen is not None:
        yield _frozen(curve, shape, frozen)
        return
    stretch = _waits(shape)
    if stretch is not None:
        yield _waiting(curve, stretch)


def _rate_dies(shape: LogShape) -> float | None:
    """The step from which the rate is next to nothing and the loss stays, with something left to learn."""
    overview = shape.curve
    steps, rates = overview.rate_at, overview.learning_rate
    if len(rates) < _LEAST_POINTS or len(steps) != len(rates) or not all(map(math.isfinite, rates)) or max(rates) <= 0:
        return None
    dead = next((at for at in range(len(rates)) if max(rates[at:]) <= _DEAD * max(rates)), None)
    if dead is None or dead > _EARLY * len(rates):
        return None
    rest = [value for step, value in shape.points if step >= steps[dead]]
    if len(rest) < 3 or statistics.median(rest) < _LEFT * shape.start or (shape.skill or 0.0) >= _WELL:
        return None
    moved = abs(statistics.median(rest[:3]) - statistics.median(rest[-3:]))
    return steps[dead] if moved <= max(_MOVES * abs(shape.start), shape.jitter) else None


def _dead(curve: CurveEvidence, shape: LogShape, died: float) -> Finding:
    last = shape.rates[-1]
    return Finding(
        fault=Fault.LEARNING_RATE,
        severity=Severity.MEDIUM,
        confidence=0.65,
        where="optimizer",
        message=(
            f"The learning rate falls from {max(shape.rates):.3g} to {last:.2g}; from {curve.unit} {died:,.0f} on it is too small "
            f"to move anything, and the loss stays at {shape.end:.4g} for the rest of the run. The schedule ended the training, not the "
            "task."
        ),
        evidence=(
            losses_of(curve, Mark(died, "the rate has died away")),
            Number("last rate over the largest", last / max(shape.rates), threshold=_DEAD),
        ),
        fix=Advice(
            text="Stretch the schedule so that it ends with the last epoch, or lower the rate only when the loss stops falling.",
            snippet="keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=3, min_lr=1e-5)",
        ),
        marks=span(curve, "loss", died, "the rate has died away", curve.steps[-1]),
    )


def _freezes(shape: LogShape) -> float | None:
    """The step from which validation (else training) gives the same loss again and again, with something left to learn."""
    curve = shape.curve
    steps, values = (curve.val_steps, curve.val_loss) if curve.val_loss else (curve.steps, curve.loss)
    if len(values) < _LEAST_POINTS or len(steps) != len(values) or not all(map(math.isfinite, values)):
        return None
    if shape.end < _MUCH_LEFT * shape.start or shape.fall < _LEFT or (shape.skill or 0.0) >= _WELL:
        return None
    level = abs(values[-1])
    first = next(at for at in range(len(values)) if max(values[at:]) - min(values[at:]) <= _SAME * level)
    return steps[first] if first <= _EARLY * len(values) else None


def _frozen(curve: CurveEvidence, shape: LogShape, since: float) -> Finding:
    return Finding(
        fault=Fault.LEARNING_RATE,
        severity=Severity.MEDIUM,
        confidence=0.5,
        where="optimizer",
        message=(
            f"From {curve.unit} {since:,.0f} on the loss is the same to the fourth digit, at {shape.end:.4g} of {shape.start:.4g}: no "
            "weight moves any more. The learning rate has died away, or no gradient reaches the weights."
        ),
        evidence=(losses_of(curve, Mark(since, "nothing moves")),),
        fix=Advice(
            text="Log the learning rate. If a schedule lowers it, stretch it so that it ends with the last epoch; if it is as it was, look "
            "for units that are dead or saturated."
        ),
        marks=span(curve, "loss", since, "nothing moves", curve.steps[-1] if curve.steps else None),
    )


def _waits(shape: LogShape) -> tuple[float, float] | None:
    """(first, last step) of a long flat stretch after which the loss falls again by a good part of all it fell."""
    smooth = smoothed(shape.loss)
    depth = shape.start - min(smooth)
    size = max(4, round(_FLAT_SHARE * len(smooth)))
    if depth <= 0 or len(smooth) < 2 * size:
        return None
    for first in range(1, len(smooth) - size):
        part = smooth[first : first + size]
        if max(part) - min(part) <= max(0.02 * depth, 2 * shape.jitter) and part[-1] - min(smooth[first + size :]) >= (
            _FALLS_AGAIN * depth
        ):
            return shape.points[first][0], shape.points[first + size - 1][0]
    return None


def _waiting(curve: CurveEvidence, stretch: tuple[float, float]) -> Finding:
    first, last = stretch
    return Finding(
        fault=Fault.INITIALISATION,
        severity=Severity.LOW,
        confidence=0.5,
        where="loss",
        message=(
            f"The loss stays where it is from {curve.unit} {first:,.0f} to {last:,.0f} and falls again after that: those "
            f"{curve.unit}s brought nothing. Other initial weights, normalisation or a warm-up would shorten the wait."
        ),
        evidence=(losses_of(curve, Mark(first, "flat"), Mark(last, "falls again")),),
        fix=Advice(
            text="Scale the inputs, add batch normalisation, or try another initialiser and a slightly larger rate."
        ),
        marks=span(curve, "loss", first, "flat for a while", last),
    )


CHECK = Check(
    needs=frozenset({Evidence.LOGS}),
    run=_run,
    explains=frozenset({"underfitting", "loss-slow", "loss-flat"}),
    symptom=True,
)
