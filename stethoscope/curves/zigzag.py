"""Swings of a curve, small ones left out: where it turns, how high and how often."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


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
