"""The group's layers computed anew, each changed in the ways in which layers are known to differ, until one gives what the second answers.

Numbers (factors, slopes, epsilon, the scale of attention) are found by least squares, and named only where they leave next to nothing
of the difference and the data tell them from what the layer has.

Source: beside each change, in the modules of `suspicions`.

A number found by least squares, and how sure it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.attention_suspicions import attention_suspicions
from stethoscope.compare.parity.causes.case import Case, Cause, Guess
from stethoscope.compare.parity.causes.chain import EXACT, Chain
from stethoscope.compare.parity.kernel_suspicions import Estimate, Settings, Suspicion, Weights, window_suspicions
from stethoscope.compare.parity.moving import moving_suspicions
from stethoscope.compare.parity.recurrent import recurrent_suspicions
from stethoscope.compare.parity.value_suspicions import activation_suspicions, normalization_suspicions
from stethoscope.types import Layer

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


def suspicions(layer: Layer, weights: Weights, known: Settings | None = None) -> Iterator[Suspicion | Estimate]:
    """Everything that is tried for a layer; of two that explain the same, the first is named.

    Args:
        layer: of the group.
        weights: by short names.
        known: what a call was found to be told beside the layer's settings.
    """
    if "recurrent_kernel" in weights:
        yield from recurrent_suspicions(layer, weights)
        return
    yield from normalization_suspicions(layer, weights)
    yield from window_suspicions(layer, weights)
    yield from moving_suspicions(layer, weights)
    yield from attention_suspicions(layer, weights, known or {})
    yield from activation_suspicions(layer, weights)


_GOOD = 0.02


class Recomputed(Cause):
    """See the module's docstring."""

    id = "recomputed"
    title = "Tried on the layer's own input"

    def weigh(self, case: Case) -> Guess | None:
        """Near certain where one change leaves nothing of the difference; None where the layers are not known here."""
        chain = Chain.of(case)
        if chain is None:
            return None
        best: tuple[float, Suspicion, Layer] | None = None
        for layer in chain.layers:
            if not chain.is_known(layer):
                continue
            for one in suspicions(layer, chain.weights.get(layer.path, {}), chain.told[layer.path]):
                tried = _estimated(chain, layer, one) if isinstance(one, Estimate) else chain.tried(layer, one)
                if tried is not None and (best is None or tried[0] < best[0] * 0.5):
                    best = (*tried, layer)
        if best is None or best[0] > _GOOD:
            return None
        left, one, layer = best
        return Guess(
            one.cause,
            one.title,
            f"If {layer.path!r} {one.told}, it gives what the second model answers ({1 - left:.1%} of the difference explained).",
            0.98 if left < 1e-3 else 0.9,
            layer.path,
            one.fix,
        )


def _estimated(chain: Chain, layer: Layer, estimate: Estimate) -> tuple[float, Suspicion] | None:
    """As `_tried`, for the number that explains most; None where none does, or the number may as well be what it is."""
    best: Fitted | None = None
    for start in estimate.starts:
        found = fitted(lambda value: chain.answer(layer.path, estimate.of(value)), chain.b, start, low=estimate.low)
        if found is not None and (best is None or found.squares < best.squares):
            best = found
        if best is not None and best.squares <= _GOOD * chain.gap:
            break
    if best is None or not best.differs_from(estimate.starts[0]):
        return None
    return max(EXACT, best.squares / chain.gap), estimate.of(best.value)


CAUSE = Recomputed()
