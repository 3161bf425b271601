"""The answer of comparing two architectures as rows: layers of both models in one order, and what became of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard import figures

SAME, WEIGHTS, CHANGED, REMOVED, ADDED = "same", "weights", "changed", "removed", "added"
TITLES = {
    CHANGED: "changed",
    WEIGHTS: "other weights",
    REMOVED: "only in this model",
    ADDED: "only in the other",
    SAME: "the same",
}
"""What became of a layer, worst first."""
COLOURS = {
    CHANGED: figures.ORANGE,
    WEIGHTS: figures.SKY,
    REMOVED: figures.VERMILION,
    ADDED: figures.GREEN,
}
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
    changes: tuple[Mapping[str, Any], ...] = ()
    """{"what", "field", "a", "b"} each."""
    weights: Mapping[str, Any] | None = None
    """{"norm_a", "norm_b", "norm_of_difference", "relative"}."""


def rows(answer: Mapping[str, Any], here: Sequence[str], there: Sequence[str]) -> list[Row]:
    """Every layer of both models once, in the order of this model; what only the other has stands after its predecessor there.

    Args:
        answer: of the task `compare_architectures`.
        here: the paths of this model's layers, in order.
        there: those of the other.
    """
    pairs = {str(pair["a"]): _pair(pair) for pair in answer.get("pairs") or () if isinstance(pair, Mapping)}
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


def _pair(pair: Mapping[str, Any]) -> Row:
    changes = tuple(change for change in pair.get("changes") or () if isinstance(change, Mapping))
    weights = pair.get("weights") if isinstance(pair.get("weights"), Mapping) else None
    kind = CHANGED if any(change.get("what") != "weights" for change in changes) else SAME
    if kind == SAME and (changes or (weights is not None and weights.get("norm_of_difference"))):
        kind = WEIGHTS
    return Row(str(pair["a"]), str(pair["b"]), kind, str(pair.get("how") or ""), changes, weights)


def counts(found: Sequence[Row]) -> dict[str, int]:
    """How many rows of each kind there are, in the order of `TITLES`."""
    return {kind: sum(row.kind == kind for row in found) for kind in TITLES}
