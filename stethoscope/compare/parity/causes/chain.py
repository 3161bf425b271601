"""The layers in which two models part, computed again from what they read: what they would answer if one of them were another."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.causes.case import Case
from stethoscope.compare.parity.kernel_suspicions import Settings, Suspicion
from stethoscope.compare.parity.numpy_layers import MANY_HEADED, SIMPLE, attention_weight, call_settings
from stethoscope.compare.parity.recompute import computed
from stethoscope.compare.parity.recurrent import BACKWARD
from stethoscope.types import Layer

_TRUE = 1e-6
"""Share of squares up to which layers computed here are those of the model: else nothing can be concluded."""
_GOOD = 0.02
_EXACT = 1e-9
"""Share of squares below which one explanation is as good as another."""
_MOST = 4 << 20
"""Values of the answer; fewer rows are looked at where there are more."""
_MOST_PAIRS = 1 << 18
"""Pairs of places that attention is tried on."""
EXACT = 1e-9
"""Share of squares below which one explanation is as good as another."""
_MOST = 4 << 20
"""Values of the answer; fewer rows are looked at where there are more."""
_MOST_PAIRS = 1 << 18
"""Pairs of places that attention is tried on."""
_MOST = 4 << 20
"""Values of the answer; fewer rows are looked at where there are more."""
_MOST_PAIRS = 1 << 18
"""Pairs of places that attention is tried on."""
_MOST_PAIRS = 1 << 18
"""Pairs of places that attention is tried on."""


class Chain:
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
    def of(cls, case: Case) -> Chain | None:
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

    def left(self, layer: Layer, suspicion: Suspicion) -> float | None:
        """The share of the difference that is left when a layer is as suspected; None where that cannot be computed."""
        made = self.answer(layer.path, suspicion)
        if made is None or made.shape != self.b.shape:
            return None
        return max(EXACT, float(np.sum(np.square(made - self.b))) / self.gap)

    def tried(self, layer: Layer, suspicion: Suspicion) -> tuple[float, Suspicion] | None:
        """(the share of the difference that is left, the suspicion)."""
        left = self.left(layer, suspicion)
        return None if left is None else (left, suspicion)

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
