"""The group's layers computed anew, each changed in the ways in which layers differ, until one gives what the second model answers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stethoscope.parity.activation_forms import named_function
from stethoscope.parity.causes.case import Array, Case, Guess
from stethoscope.parity.recompute import computed
from stethoscope.parity.recurrent import BACKWARD
from stethoscope.parity.suspicion import Suspicion
from stethoscope.parity.suspicions import suspicions
from stethoscope.types import Layer

_TRUE = 1e-6
"""Share of squares up to which layers computed here are those of the model: else nothing can be concluded."""
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
        best: tuple[float, Suspicion, Layer] | None = None
        for layer in chain.layers:
            if not chain.is_known(layer):
                continue
            for one in suspicions(layer, chain.weights.get(layer.path, {}), worst):
                made = chain.answer(layer.path, one)
                if made is None or made.shape != chain.b.shape:
                    continue
                left = float(np.sum(np.square(made - chain.b))) / chain.gap
                if best is None or left < best[0] * 0.5:
                    best = (left, one, layer)
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


class _Chain:
    """The group as a computation from what its layers are known to have answered."""

    def __init__(self, case: Case, rows: int) -> None:
        self.layers = case.group
        self.rows = rows
        self._a, self.b = case.a[:rows], case.b[:rows]
        self.gap = float(np.sum(np.square(case.b[:rows] - case.a[:rows]))) or 1e-300
        self._known = {path: array[:rows] for path, array in case.answers.items()}
        self.weights: dict[str, dict[str, Array]] = {}
        for one in case.weights:
            if one.a is not None:
                name = one.name.rsplit("/", 1)[-1].split(":")[0]
                mine = self.weights.setdefault(one.layer, {})
                mine[f"{BACKWARD}{name}" if name in mine else name] = np.asarray(one.a, np.float64)

    @classmethod
    def of(cls, case: Case) -> _Chain | None:
        """None for arrays whose channels are not last."""
        if case.channel_axis != -1 or case.a.ndim < 2:
            return None
        rows = len(case.a)
        if not any(layer.type == "BatchNormalization" for layer in case.group):
            rows = max(1, min(rows, _MOST // max(1, case.a[:1].size)))
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
            inputs = [made[source] for source in layer.inputs if source in made]
            if not inputs or len(inputs) < len(layer.inputs):
                return None
            last = self._one(layer, inputs, suspicion if layer.path == changed else None)
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
