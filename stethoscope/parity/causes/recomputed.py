"""The group's layers computed anew, each changed in the ways in which layers differ, until one gives what the second model answers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stethoscope.parity.activation_forms import named_function
from stethoscope.parity.causes.case import Array, Case, Guess
from stethoscope.parity.recompute import computed
from stethoscope.parity.suspicions import Suspicion, suspicions
from stethoscope.types import Layer

_TRUE = 1e-6
"""Share of squares up to which the layers computed here are those of the model: else nothing can be concluded."""
_GOOD = 0.02
_MOST = 4 << 20
"""Values of the answer; fewer rows are looked at where there are more."""


class Recomputed:
    """See the module's docstring."""

    id = "recomputed"
    title = "Tried on the layer's own input"

    def weigh(self, case: Case) -> Guess | None:
        """Near certain where one change leaves nothing of the difference; None where the layers are not known here."""
        chain = _Chain.of(case)
        if chain is None:
            return None
        channels = np.abs(case.a - case.b).reshape(-1, case.a.shape[-1]).max(axis=0)
        worst = tuple(int(one) for one in np.argsort(-channels)[:4])
        best: tuple[float, int, Suspicion, Layer] | None = None
        for layer in chain.layers:
            for number, one in enumerate(suspicions(layer, chain.weights.get(layer.path, {}), worst)):
                made = chain.answer(layer.path, one)
                if made is None or made.shape != chain.b.shape:
                    continue
                left = float(np.sum(np.square(made - chain.b))) / chain.gap
                if best is None or left < best[0] * 0.5:
                    best = (left, number, one, layer)
        if best is None or best[0] > _GOOD:
            return None
        left, _, one, layer = best
        return Guess(
            one.cause,
            one.title,
            f"If {layer.path!r} {one.told}, it gives what the second model answers ({1 - left:.1%} of the difference explained).",
            0.98 if left < 1e-3 else 0.9,
            layer.path,
            one.fix,
        )


class _Chain:
    """The group as a computation from known inputs."""

    def __init__(self, case: Case, rows: int) -> None:
        self.layers = case.group
        self.rows = rows
        self.b = case.b[:rows]
        self.gap = float(np.sum(np.square(case.b[:rows] - case.a[:rows]))) or 1e-300
        self._known = {path: array[:rows] for path, array in case.answers.items()}
        self.weights: dict[str, dict[str, Array]] = {}
        for one in case.weights:
            if one.a is not None:
                name = one.name.rsplit("/", 1)[-1].split(":")[0]
                self.weights.setdefault(one.layer, {})[name] = np.asarray(one.a, np.float64)

    @classmethod
    def of(cls, case: Case) -> _Chain | None:
        """None where the layers, computed here, do not give what the first model answered."""
        if case.channel_axis != -1 or case.a.ndim < 2:
            return None
        rows = len(case.a)
        if any(layer.type == "BatchNormalization" for layer in case.group) is False:
            rows = max(1, min(rows, _MOST // max(1, case.a[:1].size)))
        chain = cls(case, rows)
        plain = chain.answer("", None)
        size = float(np.sum(np.square(case.a[:rows]))) or 1e-300
        if plain is None or plain.shape != case.a[:rows].shape:
            return None
        return chain if float(np.sum(np.square(plain - case.a[:rows]))) <= _TRUE * size else None

    def answer(self, changed: str, suspicion: Suspicion | None) -> Array | None:
        """What the last layer of the group answers when one layer is as suspected."""
        group = {layer.path for layer in self.layers}
        made: dict[str, Array] = {}
        last: Array | None = None
        for layer in self.layers:
            inputs = []
            for source in layer.inputs:
                found = made.get(source) if source in group else self._known.get(source)
                if found is None:
                    return None
                inputs.append(found)
            if not inputs:
                return None
            mine = suspicion if layer.path == changed else None
            last = self._one(layer, inputs, mine)
            if last is None:
                return None
            made[layer.path] = last
        return last

    def _one(self, layer: Layer, inputs: list[Array], suspicion: Suspicion | None) -> Array | None:
        weights: Mapping[str, Array] = self.weights.get(layer.path, {})
        if suspicion is None:
            return computed(layer, inputs, weights)
        if suspicion.form:
            function = named_function(suspicion.form)
            return None if function is None else function(inputs[0])
        return computed(layer, inputs, {**weights, **suspicion.weights}, suspicion.settings)


CAUSE = Recomputed()
