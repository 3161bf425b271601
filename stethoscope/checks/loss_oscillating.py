"""The loss swings.

Why: updates overshoot the bottom of the valley again and again, or batches are so small that each pulls another way.
Example: `SGD(0.5, momentum=0.9)`; `batch_size=1` at an ordinary rate.
Fix: a rate several times smaller, or larger batches.
Limits: noise between batches is normal: swings are compared with the size of the loss at the start, and a network that
learns well anyway is left alone. Of a log, swings that have calmed down before the end are not named. Swings upon a falling trend
are named where the loss is a mean over epochs, rises by a tenth again and again up to the end, and validation rises too.
Source: AUTOTRAINER (ICSE 2021), “oscillating loss”. Thresholds: ours.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence

from stethoscope.checks.check import Check
from stethoscope.checks.curves.log_pictures import curve, losses_of, lower_rate, span
from stethoscope.checks.curves.log_shape import LogShape, learned_share, shape_of
from stethoscope.checks.curves.remedies import GOOD_SKILL, remedies
from stethoscope.checks.curves.shapes import (
    Swings,
    end_level,
    finite,
    noise,
    returning_rises,
    runs_away,
    start_level,
    swing,
    swings,
)
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.compile_and_fit import SetBatchSize, SetLearningRate
from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.curves import CurveEvidence

_LEAST_POINTS = 8
_AMPLITUDE = 0.1
"""Height of a typical swing over the loss at the start."""
_TURNING = 0.4
"""Share of points that are a peak or trough: a swing of five points or shorter."""
_SMALL_BATCH = 4
_SOME_GAIN = 0.05
"""Gain in skill of a smaller rate or larger batches that shows the swings do harm."""


_BLOCKS = 40
"""Stretches to which single batches are reduced: between them chance alone swings little."""
_HEIGHT, _LOW_HEIGHT = 0.2, 0.08
"""Height from trough to peak over the loss at the start; the lower one where it is also large beside the loss itself."""
_LEVEL = 0.5
_LEAST_TURNS, _MORE_TURNS = 4, 6
_CALM = 0.5
_RISE, _RISE_SHARE, _RISES, _RISES_SUM = 0.25, 0.03, 3, 0.3
"""Rises from point to point that matter: by a quarter and by this share of the start; so many of them (more where all
come late), and their sum as a share of all that the loss had fallen."""
_RETURNS, _RETURNS_ALONE = 4, 6
"""Rises of a tenth that return, where validation rises too, and where there is none."""
_HELD_RISE, _HELD_RISES = 0.1, 2
_CHANCE = 6.0
"""Height of a swing over the deviation from point to point: independent points hardly span 5 of them."""
_THROWN = 2.0
"""The mean of the first epoch counts as the start up to this many times that of the second: first updates may throw it far up."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.logs is not None:
        yield from _of_log(evidence.logs)
        return
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
    yield Finding(
        fault=fault,
        severity=Severity.MEDIUM if eased else Severity.LOW,
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


def _of_log(curve: CurveEvidence) -> Iterator[Finding]:
    shape = shape_of(curve)
    points = _few(shape)
    values = [value for _, value in points]
    if len(values) < _LEAST_POINTS or len(shape.loss) < len(shape.curve.loss) or runs_away(values):
        return
    seen = _swinging(values, shape.start)
    if _are_means(shape):
        if seen is None or _calms_down(seen, values):
            seen = _upon_a_trend(shape)
    elif not _beyond_chance(values):
        return
    if seen is None or _calms_down(seen, values):
        return
    first, last = points[seen.turns[0]][0], points[seen.turns[-1]][0]
    period = seen.period * (points[-1][0] - points[0][0]) / max(1, len(points) - 1)
    yield Finding(
        fault=Fault.LEARNING_RATE,
        severity=Severity.MEDIUM,
        confidence=0.55,
        where="loss",
        message=(
            f"The loss swings up and down by {seen.height:.3g} about every {period:,.3g} {curve.unit}s (it "
            f"began at {shape.start:.3g} and ends at {shape.end:.3g}): updates overshoot."
        ),
        evidence=(
            losses_of(curve),
            Number("height of a swing over the loss at the start", seen.height / shape.start, threshold=_HEIGHT),
            Number("period", period, unit=f" {curve.unit}s"),
        ),
        fix=lower_rate(shape, 5, "Divide the learning rate by 3 to 10, or use larger batches."),
        marks=span(curve, "loss", first, "swings", last),
    )


def _few(shape: LogShape) -> Sequence[tuple[float, float]]:
    """Epochs as they are; of single batches the means of stretches."""
    if shape.unit == "epoch" or len(shape.points) <= _BLOCKS:
        return shape.points
    size = len(shape.points) / _BLOCKS
    parts = [shape.points[int(at * size) : int((at + 1) * size)] for at in range(_BLOCKS)]
    return [(part[-1][0], statistics.fmean(value for _, value in part)) for part in parts]


def _swinging(values: Sequence[float], start: float) -> Swings | None:
    if start <= 0:
        return None
    level = statistics.median(values)
    large = swings(values, _HEIGHT * start)
    if len(large.turns) > _LEAST_TURNS:
        return large
    low = swings(values, max(_LOW_HEIGHT * start, _LEVEL * level))
    return low if len(low.turns) > _MORE_TURNS else _restless(values, start)


def _restless(values: Sequence[float], start: float) -> Swings | None:
    """Rises without a rhythm, in the second half too: in a training that goes well the mean over an epoch hardly ever rises."""
    rises = [
        at
        for at in range(1, len(values))
        if values[at] - values[at - 1] >= max(_RISE * abs(values[at - 1]), _RISE_SHARE * start)
    ]
    heights = [values[at] - values[at - 1] for at in rises]
    late = sum(at >= len(values) / 2 for at in rises)
    few = len(rises) <= _RISES and (not rises or rises[0] >= len(values) / 2)
    if len(rises) < _RISES or few or sum(heights) < _RISES_SUM * (start - min(values)) or late < len(rises) / 3:
        return None
    turns = tuple(place for at in rises for place in (at - 1, at))
    widths = [later - earlier for earlier, later in itertools.pairwise(rises)]
    return Swings(turns, statistics.median(heights), statistics.median(widths))


def _are_means(shape: LogShape) -> bool:
    """Whether points are means over epochs, or move as validation does. Of single batches each has another mean by chance."""
    curve = shape.curve
    named = shape.unit == "epoch" or "epoch" in curve.tags.get("loss", "").lower()
    return named or (len(curve.val_steps) == len(curve.steps) and _held_rises(shape) >= _HELD_RISES)


def _held_rises(shape: LogShape) -> int:
    return sum(after > (1 + _HELD_RISE) * before > 0 for before, after in itertools.pairwise(shape.curve.val_loss))


def _beyond_chance(values: Sequence[float]) -> bool:
    """Whether it also swings by more than points do that differ by chance; in logarithms, as chance grows with the loss."""
    if min(values) <= 0:
        return False
    logs = [math.log(value) for value in values]
    return len(swings(logs, _CHANCE * noise(logs)).turns) > _LEAST_TURNS


def _upon_a_trend(shape: LogShape) -> Swings | None:
    """Rises that return up to the end while the loss falls, in validation too where there is some."""
    held = shape.curve.val_loss
    if held and _held_rises(shape) < _HELD_RISES:
        return None
    start = min(shape.start, _THROWN * shape.loss[1])
    return returning_rises(shape.loss, start, _RETURNS if held else _RETURNS_ALONE)


def _calms_down(seen: Swings, values: Sequence[float]) -> bool:
    """Whether the swings end well before the run does, as under a schedule that lowers the rate."""
    return seen.turns[-1] < _CALM * len(values)


def _by_epoch(evidence: EvidenceSet, found: CurveEvidence) -> tuple[float, ...]:
    runs = [run for run in evidence.training.base if f"seed {run.seed}" == found.run] if evidence.training else []
    return runs[0].epoch_loss if runs else ()


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


CHECK = Check(needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}), run=_run, symptom=True)
