"""The group's layers computed anew, each changed in the ways in which layers are known to differ, until one gives what the second answers.

Numbers (factors, slopes, epsilon, the scale of attention) are found by least squares, and named only where they leave next to nothing
of the difference and the data tell them from what the layer has.

Source: beside each change, in the modules of `suspicions`.

A number found by least squares, and how sure it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.attention_suspicions import attention_suspicions
from stethoscope.compare.parity.causes.case import Case, Cause, Guess
from stethoscope.compare.parity.kernel_suspicions import Estimate, Settings, Suspicion, Weights, window_suspicions
from stethoscope.compare.parity.moving import moving_suspicions
from stethoscope.compare.parity.numpy_layers import MANY_HEADED, SIMPLE, attention_weight, call_settings
from stethoscope.compare.parity.recompute import computed
from stethoscope.compare.parity.recurrent import BACKWARD, recurrent_suspicions
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


_TRUE = 1e-6
"""Share of squares up to which layers computed here are those of the model: else nothing can be concluded."""
_GOOD = 0.02
_EXACT = 1e-9
"""Share of squares below which one explanation is as good as another."""
_MOST = 4 << 20
"""Values of the answer; fewer rows are looked at where there are more."""
_MOST_PAIRS = 1 << 18
"""Pairs of places that attention is tried on."""


class Recomputed(Cause):
    """See the module's docstring."""

    id = "recomputed"
    title = "Tried on the layer's own input"

    def weigh(self, case: Case) -> Guess | None:
        """Near certain where one change leaves nothing of the difference; None where the layers are not known here."""
        chain = _Chain.of(case)
        if chain is None:
            return None
        best: tuple[float, Suspicion, Layer] | None = None
        for layer in chain.layers:
            if not chain.is_known(layer):
                continue
            for one in suspicions(layer, chain.weights.get(layer.path, {}), chain.told[layer.path]):
                tried = _estimated(chain, layer, one) if isinstance(one, Estimate) else _tried(chain, layer, one)
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


def _tried(chain: _Chain, layer: Layer, suspicion: Suspicion) -> tuple[float, Suspicion] | None:
    """(the share of the difference that is left, the suspicion)."""
    made = chain.answer(layer.path, suspicion)
    if made is None or made.shape != chain.b.shape:
        return None
    return max(_EXACT, float(np.sum(np.square(made - chain.b))) / chain.gap), suspicion


def _estimated(chain: _Chain, layer: Layer, estimate: Estimate) -> tuple[float, Suspicion] | None:
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
    return max(_EXACT, best.squares / chain.gap), estimate.of(best.value)


class _Chain:
    """The group as a computation from what its layers are known to have answered."""

    def __init__(self, case: Case, rows: int) -> None:
        self.layers = case.group
        self.rows = rows
        self._a, self.b = case.a[:rows], case.b[:rows]
        self.gap = float(np.sum(np.square(case.b[:rows] - case.a[:rows]))) or 1e-300
        self._known = {path: array[:rows] for path, array in case.answers.items()}
        self.weights: dict[str, dict[str, Array]] = {}
        kinds = {layer.path: layer.type for layer in case.group}
        for one in case.weights:
            if one.a is not None:
                attends = kinds.get(one.layer) in _ATTENTION
                name = attention_weight(one.name) if attends else one.name.rsplit("/", 1)[-1].split(":")[0]
                mine = self.weights.setdefault(one.layer, {})
                mine[f"{BACKWARD}{name}" if name in mine else name] = np.asarray(one.a, np.float64)
        self.told: dict[str, Settings] = {layer.path: self._told(layer) for layer in self.layers}
        """What the call of each layer was told, as far as it shows in the layer's own answer."""

    @classmethod
    def of(cls, case: Case) -> _Chain | None:
        """None for arrays whose channels are not last."""
        if case.channel_axis != -1 or case.a.ndim < 2:
            return None
        rows = len(case.a)
        if not any(layer.type == "BatchNormalization" for layer in case.group):
            rows = max(1, min(rows, _MOST // max(1, case.a[:1].size)))
        if any(layer.type in _ATTENTION for layer in case.group):
            rows = max(1, min(rows, _MOST_PAIRS // case.a.shape[1] ** 2))
        return cls(case, rows)

    def is_known(self, layer: Layer) -> bool:
        """Whether this layer and those after it, computed here, give what the first model answered."""
        plain = self.answer(layer.path, None)
        size = float(np.sum(np.square(self._a))) or 1e-300
        return (
            plain is not None
            and plain.shape == self._a.shape
            and float(np.sum(np.square(plain - self._a))) <= _TRUE * size
        )

    def answer(self, changed: str, suspicion: Suspicion | None) -> Array | None:
        """What the last layer of the group answers when one layer is as suspected; those before it answer as they did."""
        made = dict(self._known)
        last: Array | None = None
        begun = False
        for layer in self.layers:
            begun = begun or layer.path == changed
            if not begun:
                continue
            inputs = _read(layer, made)
            if not inputs:
                return None
            last = self._one(layer, inputs, suspicion if layer.path == changed else None)
            if last is None:
                return None
            made[layer.path] = last
        return last

    def _one(self, layer: Layer, inputs: list[Array], suspicion: Suspicion | None) -> Array | None:
        weights: Mapping[str, Array] = self.weights.get(layer.path, {})
        told = self.told[layer.path]
        if suspicion is None:
            return computed(layer, inputs, weights, told)
        if suspicion.function is not None:
            return suspicion.function(inputs[0])
        return computed(layer, inputs, {**weights, **suspicion.weights}, {**told, **suspicion.settings})

    def _told(self, layer: Layer) -> Settings:
        inputs, answer = _read(layer, self._known), self._known.get(layer.path)
        ways = call_settings(layer.type, len(inputs))
        if answer is None or len(ways) == 1:
            return ways[0]
        weights, size = self.weights.get(layer.path, {}), float(np.sum(np.square(answer))) or 1e-300
        for way in ways:
            made = computed(layer, inputs, weights, way)
            if made is not None and made.shape == answer.shape and np.sum(np.square(made - answer)) <= _TRUE * size:
                return way
        return ways[0]


_ATTENTION = (*MANY_HEADED, *SIMPLE)


def _read(layer: Layer, answers: Mapping[str, Array]) -> list[Array]:
    """What a layer reads, in the order of its call, twice what it reads twice; nothing where some of it is not known."""
    operands = [one.path for one in layer.operands if one.path] if layer.calls == 1 else []
    sources = operands if set(operands) == set(layer.inputs) else layer.inputs
    found = [answers[source] for source in sources if source in answers]
    return found if len(found) == len(sources) else []


CAUSE = Recomputed()
