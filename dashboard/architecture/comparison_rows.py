"""The answer of comparing two architectures as rows: layers of both models in one order, and what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard import figures
from stethoscope.architecture.layer_looks import Change
from stethoscope.tasks.compare_architectures import ArchitectureDifference, LayerPair, WeightsApart

SAME, WEIGHTS, CHANGED, REMOVED, ADDED = "same", "weights", "changed", "removed", "added"
TITLES = {
    CHANGED: "changed",
    WEIGHTS: "other weights",
    REMOVED: "only in this model",
    ADDED: "only in the other",
    SAME: "the same",
}
"""What became of a layer, worst first."""
COLOURS = {CHANGED: figures.ORANGE, WEIGHTS: figures.SKY, REMOVED: figures.VERMILION, ADDED: figures.GREEN}
"""Layers that are the same have none."""


@dataclass(frozen=True)
class Row:
    """One layer of this model, of the other, or of both."""

    here: str | None
    """Its path in this model."""
    there: str | None
    """Its path in the other."""
    kind: str
    """One of `TITLES`."""
    how: str = ""
    """What matched them: "name" or "structure"."""
    changes: tuple[Change, ...] = ()
    weights: WeightsApart | None = None


def rows(answer: ArchitectureDifference, here: Sequence[str], there: Sequence[str]) -> list[Row]:
    """Every layer of both models once, in the order of this model; what only the other has stands after its predecessor there.

    Args:
        answer: of the task `compare_architectures`.
        here: the paths of this model's layers, in order.
        there: those of the other.
    """
    pairs = {pair.a: _row(pair) for pair in answer.pairs}
    matched = {row.there for row in pairs.values()}
    found = [pairs.get(path) or Row(path, None, REMOVED) for path in here]
    first: list[Row] = []
    after: dict[str, list[Row]] = {}
    room = first
    for path in there:
        if path in matched:
            room = after.setdefault(path, [])
        else:
            room.append(Row(None, path, ADDED))
    ordered = list(first)
    for row in found:
        ordered.append(row)
        ordered.extend(after.get(row.there or "", ()))
    return ordered


def _row(pair: LayerPair) -> Row:
    kind = CHANGED if any(change.what != "weights" for change in pair.changes) else SAME
    if kind == SAME and (pair.changes or (pair.weights is not None and pair.weights.norm_of_difference)):
        kind = WEIGHTS
    return Row(pair.a, pair.b, kind, pair.how, pair.changes, pair.weights)


def counts(found: Sequence[Row]) -> dict[str, int]:
    """How many rows of each kind there are, in the order of `TITLES`."""
    return {kind: sum(row.kind == kind for row in found) for kind in TITLES}
