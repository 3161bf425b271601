"""Two towers that should share their weights and do not.

Why: a distance between two pictures means something only where both went through the same network. A builder that is called for each input
makes two networks, with weights of their own.
Example: `left = encoder(shape)(a)` and `right = encoder(shape)(b)` in front of a distance.
Fix: build it once, and apply it to both: `tower = encoder(shape)`, `tower(a)`, `tower(b)`.
Source: Bromley et al., "Signature verification using a siamese network" (1993); keras.io/examples/vision/siamese_contrastive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Items, Made, Value

_OF_DISTANCES = re.compile(
    r"siamese|contrastive|triplet|euclidean|cosine_(?:sim|dist)|l1_dist|manhattan", re.IGNORECASE
)
_WITH_WEIGHTS = ("Dense", "Conv", "LSTM", "GRU", "Embedding", "Sequential", "Model", "SimpleRNN")
_MOST = 5_000


def _run(facts: Facts) -> Iterator[Finding]:
    if not _OF_DISTANCES.search(facts.source.text):
        return
    done: set[int] = set()
    for model in facts.models:
        inputs = model.call.argument("inputs", 0)
        if (
            model.kind != "functional"
            or not isinstance(inputs, Items)
            or len(inputs.items) < 2
            or len(model.outputs) != 1
        ):
            continue
        sides: dict[int, list[tuple[Call, frozenset[int]]]] = {}
        reads = _Reads(frozenset(id(one) for one in inputs.items))
        for layer, read in reads.layers(model.outputs[0]):
            sides.setdefault(id(layer.node), []).append((layer, read))
        for made in sides.values():
            first, second = made[0], made[-1]
            apart = first[0] is not second[0] and len(first[1]) == len(second[1]) == 1 and first[1] != second[1]
            shared = any(one is other and read != first_read for one, read in made for other, first_read in made)
            if not apart or shared or id(model.call.node) in done:
                continue
            done.add(id(model.call.node))
            line = max(reads.applied[id(one)] for one, _ in made)
            yield facts.finding(
                line,
                Fault.ARCHITECTURE,
                Severity.HIGH,
                0.85,
                "Each input goes through a network of its own, built by the same lines: their distance means nothing, since the weights are not shared.",
                "Build the network once, and apply it to each input.",
            )


class _Reads:
    """Which inputs each layer in front of a tensor reads."""

    def __init__(self, inputs: frozenset[int]) -> None:
        self._inputs = inputs
        self._known: dict[int, frozenset[int]] = {}
        self._layers: list[tuple[Call, frozenset[int]]] = []
        self.applied: dict[int, int] = {}
        """The last line where a layer is applied, by the identity of the call that made it."""

    def layers(self, tensor: Value) -> list[tuple[Call, frozenset[int]]]:
        """Each application of a layer with weights: what made the layer, and the inputs behind it."""
        self._read(tensor, 0)
        return self._layers

    def _read(self, value: Value, depth: int) -> frozenset[int]:
        if id(value) in self._inputs:
            return frozenset({id(value)})
        if id(value) in self._known or depth > 200 or len(self._known) > _MOST:
            return self._known.get(id(value), frozenset())
        self._known[id(value)] = frozenset()
        layer = value.call.function if isinstance(value, Made) else None
        read_from = value.call.args if isinstance(value, Made) and isinstance(layer, Made) else value.parents()
        found = frozenset().union(*(self._read(one, depth + 1) for one in read_from))
        self._known[id(value)] = found
        if isinstance(value, Made) and isinstance(layer, Made):
            last = meaning(layer.call.name).rpartition(".")[2]
            if last.startswith(_WITH_WEIGHTS):
                self._layers.append((layer.call, found))
                self.applied[id(layer.call)] = max(value.call.line, self.applied.get(id(layer.call), 0))
        return found


RULE = Rule(_run)
