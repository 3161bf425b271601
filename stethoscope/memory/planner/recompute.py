"""Recomputation: where to cut a model so that the backward pass computes the activations between two cuts again."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from stethoscope.architecture.layer_kinds import Kind
from stethoscope.architecture.model_shape import ModelShape

_MOST_SEGMENTS = 128
_SLACK = 1.2
"""A mask that crosses along with the residual stream does not make a place a worse cut."""


@dataclass(frozen=True)
class Segments:
    """Cuts behind layers, by position in `ModelShape.layers`; the last layer is not a cut."""

    cuts: tuple[int, ...]

    def ranges(self, count: int) -> list[tuple[int, int]]:
        """The stretches between cuts of a model of `count` layers."""
        edges = [0, *(cut + 1 for cut in self.cuts if cut < count - 1), count]
        return [(a, b) for a, b in itertools.pairwise(edges) if b > a]


def segments(shape: ModelShape, kept_bytes: Sequence[int], crossing: Sequence[int]) -> Segments:
    """Chooses the cuts: before every transformer block, or, for other models, those that need the least memory.

    Args:
        shape: the model.
        kept_bytes: what each layer stores without recomputation.
        crossing: what a cut behind each layer keeps.

    Source: Chen et al. 2016, arXiv 1604.06174 (about √n segments); for transformers Korthikanti et al., arXiv 2205.05198,
    section 5: the input of every layer, 2·s·b·h.
    """
    attention = [
        position for position, layer in enumerate(shape.layers) if layer.kind in (Kind.ATTENTION, Kind.TRANSFORMER)
    ]
    if attention:
        return Segments(tuple(_before_blocks(attention, crossing, shape)))
    total, count = sum(kept_bytes), len(shape.layers)
    best: tuple[int, list[int]] = (total, [])
    number = 2
    while number <= min(_MOST_SEGMENTS, count):
        cuts = _even(kept_bytes, crossing, total / number)
        ranges = Segments(tuple(cuts)).ranges(count)
        cost = sum(crossing[cut] for cut in cuts) + max(sum(kept_bytes[a:b]) for a, b in ranges)
        best = min(best, (cost, cuts))
        number += 1 if number < 16 else 8
    return Segments(tuple(best[1]))


def _before_blocks(attention: Sequence[int], crossing: Sequence[int], shape: ModelShape) -> list[int]:
    """One cut before each block, on the narrow residual stream; token indices before the embedding are no such stream."""
    first = attention[0]
    wide = [p for p in range(first) if crossing[p] and shape.layers[p].elements >= shape.layers[first].elements]
    narrowest = min((crossing[p] for p in wide), default=0)
    cuts = [p for p in wide if crossing[p] <= _SLACK * narrowest][-1:]
    for here, following in itertools.pairwise(attention):
        lowest = min(crossing[here:following])
        cuts.append(max(p for p in range(here, following) if crossing[p] == lowest))
    return cuts


def _even(kept_bytes: Sequence[int], crossing: Sequence[int], target: float) -> list[int]:
    """Cuts about every `target` bytes, each at the narrowest place of the last half of its stretch."""
    cuts: list[int] = []
    start, held = 0, 0
    for position, size in enumerate(kept_bytes):
        held += size
        if held >= target and position < len(kept_bytes) - 1:
            earliest = max(start, (start + position) // 2)
            narrowest = min(range(earliest, position + 1), key=lambda p: (crossing[p], -p))
            cuts.append(narrowest)
            start = narrowest + 1
            held = sum(kept_bytes[start : position + 1])
    return cuts
