"""Shapes of one curve: where it starts and settles, whether it still falls, swings, turns or runs away. Standard library only."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

_MAD_TO_STD = 1.4826
"""Median absolute deviation to standard deviation, for normal noise. Source: Rousseeuw and Croux, JASA 88 (1993)."""
_MOST_POINTS = 200


@dataclass(frozen=True)
class Swing:
    """How a curve goes up and down around its own trend."""

    amplitude: float
    """Half the height of a typical swing, relative to the trend's level."""
    period: float
    """Points per full swing; infinity when it never turns."""
    turning_share: float
    """Share of inner points that are a peak or a trough. Independent noise has 2/3. Source: Bienaymé (1874)."""


@dataclass(frozen=True)
class Turn:
    """The lowest point of a curve that later rises for good."""

    index: int
    lowest: float
    rise: float
    """(level at the end − lowest) over the depth it had fallen before; 1 means all was lost again."""
    noise: float


def finite(values: Sequence[float]) -> list[float]:
    """The finite values, in order."""
    return [value for value in values if math.isfinite(value)]


def first_nonfinite(values: Sequence[float]) -> int | None:
    """Index of the first NaN or infinity."""
    return next((index for index, value in enumerate(values) if not math.isfinite(value)), None)


def start_level(values: Sequence[float]) -> float:
    """Median of the first twentieth of the finite points (at least one); NaN for none."""
    known = finite(values)
    return statistics.median(known[: max(1, len(known) // 20)]) if known else math.nan


def end_level(values: Sequence[float]) -> float:
    """Median of the last tenth of the finite points (at least one, three when there are twelve); NaN for none."""
    known = finite(values)
    size = max(3 if len(known) >= 12 else 1, len(known) // 10)
    return statistics.median(known[-size:]) if known else math.nan


def noise(values: Sequence[float]) -> float:
    """Standard deviation of the point-to-point noise, trend left out: median |second difference| scaled for normal noise.

    Source: Gasser, Sroka and Jennen-Steinmetz, Biometrika 73 (1986): y[i] − (y[i−1] + y[i+1])/2 has variance 1.5 σ².
    """
    known = finite(values)
    if len(known) < 3:
        return 0.0
    bends = [abs(b - (a + c) / 2) for a, b, c in zip(known, known[1:], known[2:], strict=False)]
    return _MAD_TO_STD * statistics.median(bends) / math.sqrt(1.5)


def slope(values: Sequence[float]) -> float:
    """Median of the slopes between all pairs of (at most 200, thinned) finite points, per point; 0 for fewer than two.

    Source: Theil (1950), Sen, JASA 63 (1968): up to 29 % of the points may be outliers.
    """
    known = finite(values)
    if len(known) < 2:
        return 0.0
    step = max(1, math.ceil(len(known) / _MOST_POINTS))
    thin = list(enumerate(known))[::step]
    return (
        statistics.median(
            (later - earlier) / (j - i) for at, (i, earlier) in enumerate(thin) for j, later in thin[at + 1 :]
        )
        if len(thin) > 1
        else 0.0
    )


def fall(values: Sequence[float]) -> float:
    """How much lower it ends than it starts, as a share of where it starts; negative when it rises."""
    start, end = start_level(values), end_level(values)
    if not math.isfinite(start) or not math.isfinite(end) or start == 0:
        return 0.0
    return (start - end) / abs(start)


def still_falling(values: Sequence[float], least: float = 0.05) -> bool:
    """Whether the last third falls, beyond its noise, by at least `least` of what the curve has fallen in all.

    A curve that falls at an even pace loses a third in its last third; one that has converged loses next to nothing.
    """
    known = finite(values)
    if len(known) < 4:
        return len(known) >= 2 and all(after < before for before, after in itertools.pairwise(known))
    tail = known[-max(4, len(known) // 3) :]
    drop = -slope(tail) * (len(tail) - 1)
    whole = start_level(known) - min(end_level(known), tail[-1])
    certain = drop > 2 * noise(tail) / math.sqrt(len(tail) / 3)
    return certain and drop > least * max(whole, drop, 0.0) and drop > 1e-3 * abs(end_level(known))


def is_flat(values: Sequence[float], least: float = 0.01) -> bool:
    """Whether it ends where it started: the trend moves less than `least` of the level, or less than twice its noise (and five times `least`)."""
    known = finite(values)
    if len(known) < 3:
        return False
    start, end = start_level(known), end_level(known)
    level = max(abs(start), abs(end))
    if level == 0:
        return True
    moved = max(abs(start - end), abs(slope(known)) * (len(known) - 1))
    return moved < least * level or (moved < 2 * noise(known) and moved < 5 * least * level)


def swing(values: Sequence[float]) -> Swing:
    """Swings around the running median of five points."""
    known = finite(values)
    if len(known) < 6:
        return Swing(0.0, math.inf, 0.0)
    trend = [statistics.median(known[max(0, at - 2) : at + 3]) for at in range(len(known))]
    rest = [value - middle for value, middle in zip(known, trend, strict=True)]
    turns = [at for at in range(1, len(known) - 1) if (known[at] - known[at - 1]) * (known[at + 1] - known[at]) < 0]
    heights = [abs(known[b] - known[a]) / 2 for a, b in itertools.pairwise(turns)]
    level = statistics.median(abs(value) for value in known) or 1.0
    amplitude = (statistics.median(heights) if heights else max(map(abs, rest))) / level
    share = len(turns) / (len(known) - 2)
    return Swing(amplitude if turns else 0.0, 2 / share if share else math.inf, share)


def turning_point(values: Sequence[float], patience: int = 3) -> Turn | None:
    """The lowest point, when at least `patience` points follow, all later levels lie above it and it is not noise."""
    known = [value if math.isfinite(value) else math.inf for value in values]
    if len(known) < patience + 2:
        return None
    smooth = [statistics.median(known[max(0, at - 1) : at + 2]) for at in range(len(known))]
    index = min(range(len(known)), key=lambda at: (smooth[at], known[at]))
    after = known[index + 1 :]
    if len(after) < patience:
        return None
    lowest, end, jitter = smooth[index], end_level(known), noise(known)
    if math.isinf(lowest) or not end > lowest + 2 * jitter or slope(after) <= 0:
        return None
    depth = max(start_level(known) - lowest, 1e-12)
    return Turn(index, lowest, (end - lowest) / depth, jitter)


def runs_away(values: Sequence[float]) -> bool:
    """Whether it grows: NaN or infinity, or an end at 1.5 times the start (and rising) or 1,000 times its lowest.

    Source: loss > 1e3 after the start, as in AUTOTRAINER (Zhang et al., ICSE 2021); the factor 1.5 is ours.
    """
    if first_nonfinite(values) is not None:
        return True
    known = finite(values)
    if len(known) < 4:
        return False
    start, end, lowest = start_level(known), end_level(known), min(known)
    if lowest > 0 and end > 1e3 * lowest and end > start:
        return True
    return end - start > 0.5 * abs(start) and end - start > 3 * noise(known) and slope(known[len(known) // 3 :]) > 0


_ROSE = 0.1
"""A mean over an epoch that is this share higher than the one before: rare while a training goes well."""
_MATTERS = 0.05
"""Rises count while the loss is above this share of its start: near zero any loss flickers."""
_OFTEN = 0.125
"""Share of the steps that rise: one epoch in eight."""


@dataclass(frozen=True)
class Swings:
    """Turns of a curve that are at least some height apart."""

    turns: tuple[int, ...]
    """Places of the peaks and troughs, in turn."""
    height: float
    """Median height from trough to peak."""
    period: float
    """Points per full swing: median distance from peak to peak."""


def swings(values: Sequence[float], least: float) -> Swings:
    """The turns of a curve between which it rises or falls by at least `least`. All values must be finite.

    A curve that only falls has none: the way down to its first trough does not count.
    """
    turns: list[int] = []
    extreme, rising = 0, False
    for at in range(1, len(values)):
        beyond = values[at] >= values[extreme] if rising else values[at] <= values[extreme]
        if beyond:
            extreme = at
        elif abs(values[at] - values[extreme]) >= least:
            turns.append(extreme)
            extreme, rising = at, not rising
    heights = [abs(values[b] - values[a]) for a, b in itertools.pairwise(turns)]
    widths = [b - a for a, b in zip(turns, turns[2:], strict=False)]
    return Swings(
        tuple(turns),
        statistics.median(heights) if heights else 0.0,
        statistics.median(widths) if widths else float("inf"),
    )


def returning_rises(values: Sequence[float], start: float, least: int) -> Swings | None:
    """Rises by a tenth and more upon a falling trend, again and again, from the first half to the end.

    All values must be finite and each be measured on many rows, as the mean over an epoch is.

    Args:
        values: the loss of each epoch.
        start: where it starts.
        least: how many rises, those that follow each other at once counted as one.
    """
    rises = [at for at in range(1, len(values)) if values[at] > (1 + _ROSE) * values[at - 1] > 0]
    high = [at for at in range(1, len(values)) if max(values[at - 1 : at + 1]) >= _MATTERS * start]
    tops = [at for at in rises if at in high and at + 1 not in rises]
    late = sum(at >= len(values) * 2 / 3 for at in rises)
    if len(tops) < max(least, _OFTEN * len(high)) or tops[0] >= len(values) / 2 or late < _OFTEN * len(values) / 3:
        return None
    heights = [values[at] - values[at - 1] for at in tops]
    widths = [later - earlier for earlier, later in itertools.pairwise(tops)]
    turns = tuple(place for at in tops for place in (at - 1, at))
    return Swings(turns, statistics.median(heights), statistics.median(widths))
