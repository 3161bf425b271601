"""Swings of a curve, small ones left out: where it turns, how high and how often."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

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
