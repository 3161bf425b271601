"""A number found by least squares, and how sure it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stethoscope.architecture.formulas import Array

_STEPS, _PATIENCE = 12, 3
_PROMISING = 0.5
"""Of the squares: what is left after the first steps where it is worth going on."""
_SETTLED = 1e-3
"""Of the squares: a step that takes less off is the last."""
_NUDGE = 1e-4
_SURE = 5.0
"""Standard errors that the number must lie off from what it was."""


@dataclass(frozen=True)
class Fitted:
    """The number that explains most."""

    value: float
    error: float
    """Standard error, of independent and equal residuals."""
    squares: float
    """Sum of those that it leaves."""

    def differs_from(self, other: float) -> bool:
        """Whether the data tell it from another number."""
        return abs(self.value - other) > max(_SURE * self.error, 1e-6 * abs(other))


def fitted(
    answer: Callable[[float], Array | None], target: Array, start: float, *, low: float = -np.inf
) -> Fitted | None:
    """Gauss and Newton's steps in one number, each halved until it helps; None where the number changes nothing or cannot explain much.

    Args:
        answer: the array for a number, None where it cannot be computed.
        target: what it should be.
        start: the number to begin with.
        low: the number is not below it.

    Source: Nocedal and Wright, Numerical Optimization, 2006, 10.3; Seber and Wild, Nonlinear Regression, 1989, 2.1.2 (standard error).
    """
    value, now = start, answer(start)
    if now is None or now.shape != target.shape:
        return None
    whole = left = float(np.sum(np.square(target - now)))
    bend = 0.0
    for step in range(_STEPS):
        slope = _slope(answer, value, now)
        if slope is None:
            return None
        bend = float(np.sum(np.square(slope)))
        if not np.isfinite(bend) or bend <= 0 or left <= 0:
            break
        move = float(np.sum(slope * (target - now))) / bend
        found = _halved(answer, target, value, move, left, low)
        if found is None:
            break
        before = left
        value, now, left = found
        if left > before * (1 - _SETTLED):
            break
        if step == _PATIENCE and left > _PROMISING * whole:
            return None
    if left > _PROMISING * whole or bend <= 0:
        return None
    error = float(np.sqrt(left / max(1, target.size - 1) / bend))
    return Fitted(value, error, left)


def _slope(answer: Callable[[float], Array | None], value: float, now: Array) -> Array | None:
    nudge = _NUDGE * (abs(value) or 1.0)
    moved = answer(value + nudge)
    return None if moved is None else np.asarray((moved - now) / nudge)


def _halved(
    answer: Callable[[float], Array | None], target: Array, value: float, move: float, left: float, low: float
) -> tuple[float, Array, float] | None:
    """(the number, its answer, squares left) after the longest of the moves that helps."""
    for part in (1.0, 0.5, 0.25, 0.0625):
        tried = max(low, value + part * move)
        made = answer(tried)
        if made is None:
            continue
        squares = float(np.sum(np.square(target - made)))
        if squares < left:
            return tried, made, squares
    return None
