"""Sudden changes of a curve: a level that jumps, a saw, a run that stops being a number and what rose before."""

from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from stethoscope.checks.curves.shapes import first_nonfinite, noise
from stethoscope.logs.curves import CurveEvidence

_NOISE = 8.0
"""A jump is this many times the noise from point to point …"""
_RELATIVE_NOISE = 6.0
"""… and its ratio this many times the noise of the logarithms: where the loss is high, it scatters more …"""
_DEPTH = 0.25
"""… this share of all the curve had fallen …"""
_FOLD = 1.5
"""… and leads to this many times the level before."""
_ALONE = 3.0
"""… and this many times any other rise nearby: where many points rise and fall, none is a jump."""
_NEARBY = 8
_BEFORE, _AFTER = 3, 3
"""Points whose median is the level before and after it."""
_WINDOW = 41
_LEAST_POINTS = 100
_LEAST_TEETH = 6
_RISING = 0.4
"""Share of the steps of a saw that lead upwards: one rise, then a long fall. Shuffled batches have one half."""
_HEIGHT = 0.2
"""Height of a tooth over the size of the loss."""


@dataclass(frozen=True)
class Jump:
    """A sudden rise."""

    index: int
    """Of the first point after it."""
    step: float
    before: float
    """Level just before."""
    after: float
    """The first value after it."""
    back: float | None
    """Step at which the level before was reached again; None when it never was."""


@dataclass(frozen=True)
class Saw:
    """Rises that come again and again, each followed by a slow fall."""

    count: int
    period: float
    """Points from rise to rise."""
    height: float
    """Median height of a rise."""
    steps: tuple[float, ...]
    """Where it rises, the first 50."""


def jumps(steps: Sequence[float], values: Sequence[float]) -> tuple[Jump, ...]:
    """Sudden rises that last longer than one point, in order. All values must be finite."""
    if len(values) < 6:
        return ()
    jitter, found = noise(values), list[Jump]()
    scatter = math.exp(_RELATIVE_NOISE * noise([math.log(value) for value in values])) if min(values) > 0 else 1.0
    for at in range(_BEFORE, len(values)):
        before = statistics.median(values[at - _BEFORE : at])
        rise = values[at] - values[at - 1]
        depth = max(values[:at]) - before
        level = statistics.median(values[at : at + _AFTER])
        sudden = (
            rise > _NOISE * jitter and rise > _DEPTH * depth and values[at] > max(_FOLD, scatter) * abs(values[at - 1])
        )
        lasts = level > before + max(0.3 * rise if rise < 2 * depth else 0.05 * depth, 2 * jitter)
        others = [
            values[near] - values[near - 1]
            for near in range(max(1, at - _NEARBY), min(len(values), at + _NEARBY + 1))
            if near not in (at, at + 1)
        ]
        alone = rise > _ALONE * max(others, default=0.0)
        if sudden and lasts and alone and (not found or at - found[-1].index > _AFTER):
            back = next((step for step, value in zip(steps[at:], values[at:], strict=True) if value <= before), None)
            found.append(Jump(at, steps[at], before, values[at], back))
    return tuple(found)


def as_logged(jump: Jump, thinned: Sequence[float], steps: Sequence[float], values: Sequence[float]) -> Jump:
    """A jump found among means of stretches, told with the step and the values that were logged.

    Args:
        jump: as `jumps` found it.
        thinned: the steps it was found among.
        steps: every step logged, ascending.
        values: the loss at each of them; those that are no numbers are passed over.
    """
    finite = [(step, value) for step, value in zip(steps, values, strict=False) if math.isfinite(value)]
    if len(thinned) == len(finite):
        return jump
    low, high = thinned[jump.index - 1], thinned[min(len(thinned) - 1, jump.index + 1)]
    first, last = bisect.bisect_right(finite, (low, math.inf)), bisect.bisect_left(finite, (high, -math.inf))
    wide = max(_BEFORE, (last - first) // 4)

    def around(at: int) -> tuple[list[float], list[float]]:
        return [value for _, value in finite[max(0, at - wide) : at]], [value for _, value in finite[at : at + wide]]

    def rise(at: int) -> float:
        before, after = around(at)
        return statistics.fmean(after) - statistics.fmean(before)

    at = max(range(max(1, first), max(2, last)), key=rise)
    back = (
        None if jump.back is None else finite[min(len(finite) - 1, bisect.bisect_left(finite, (jump.back, -math.inf)))]
    )
    before = statistics.median_low(around(at)[0])
    return Jump(jump.index, finite[at][0], before, finite[at][1], None if back is None else back[0])


def saw(steps: Sequence[float], values: Sequence[float]) -> Saw | None:
    """The saw in a curve of single batches; None where its points scatter as those of shuffled batches do."""
    import numpy as np

    known = np.asarray(values, np.float64)
    kept = np.isfinite(known)
    known, at = known[kept], np.asarray(steps, np.float64)[kept]
    if len(known) < _LEAST_POINTS:
        return None
    trend = np.convolve(np.pad(known, _WINDOW // 2, mode="edge"), np.ones(_WINDOW) / _WINDOW, mode="valid")
    rest = known - trend
    spread = float(rest.std())
    size = float(np.median(np.abs(trend)))
    if spread == 0 or size == 0:
        return None
    change = np.diff(known)
    rising = float((change > 0).mean())
    rises = np.flatnonzero(change > 2 * np.median(np.abs(change)) + 0.5 * spread) + 1
    if len(rises) and rising <= _RISING:
        rises = rises[np.append(True, np.diff(rises) > 2)]
        height = float(np.median(known[np.minimum(rises + 1, len(known) - 1)] - known[rises - 1]))
        if len(rises) >= _LEAST_TEETH and height >= _HEIGHT * size:
            gaps = np.diff(rises)
            return Saw(len(rises), float(np.median(gaps)), height, tuple(at[rises[:50]].tolist()))
    return None


_LOOK_BACK = 10
"""Points before the break that are looked at."""
_GREW = 3.0
"""A quantity whose last values are this many times its usual one was on its way."""


@dataclass(frozen=True)
class Break:
    """The first value that is no number."""

    role: str
    """"loss", "val_loss", "metric" or "val_metric"."""
    step: float
    value: float
    index: int
    recovers: bool
    """Whether finite values follow."""


@dataclass(frozen=True)
class Rise:
    """Something that had grown when the run broke."""

    name: str
    usual: float
    last: float


def first_break(curve: CurveEvidence) -> Break | None:
    """The first NaN or infinity in the losses or the metric: that of the training loss where there is one."""
    columns = {
        "loss": (curve.steps, curve.loss),
        "val_loss": (curve.val_steps, curve.val_loss),
        "metric": (curve.metric_at, curve.metric),
        "val_metric": (curve.val_metric_at, curve.val_metric),
    }
    for role, (steps, values) in columns.items():
        at = first_nonfinite(values)
        if at is not None and at < len(steps):
            after = any(math.isfinite(value) for value in values[at + 1 :])
            return Break(role, steps[at], values[at], at, after)
    return None


def rises_before(curve: CurveEvidence, found: Break) -> tuple[Rise, ...]:
    """What had grown just before: the loss itself, gradient norms, the learning rate; the largest growth first."""
    columns = {"the loss": (curve.steps, curve.loss)}
    if found.role != "loss":
        columns = {"the validation loss": (curve.val_steps, curve.val_loss)}
    columns["the learning rate"] = (curve.rate_at, curve.learning_rate)
    columns |= {name: (signal.steps, signal.values) for name, signal in curve.signals.items()}
    rises = [rise for name, (steps, values) in columns.items() if (rise := _rise(name, steps, values, found.step))]
    return tuple(sorted(rises, key=lambda rise: rise.last / rise.usual, reverse=True))


def _rise(name: str, steps: Sequence[float], values: Sequence[float], until: float) -> Rise | None:
    end = bisect.bisect_right(steps, until)
    finite = [value for value in values[:end] if math.isfinite(value)]
    if len(finite) < 2 or len(steps) != len(values):
        return None
    usual = abs(sorted(finite[: max(1, len(finite) - 1)])[max(0, (len(finite) - 2) // 2)])
    last = max(map(abs, finite[-_LOOK_BACK:]))
    return Rise(name, usual, last) if usual > 0 and last >= _GREW * usual and last > abs(finite[0]) else None
