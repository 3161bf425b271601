"""Layers that the other model computes only together with a neighbour: there is nothing of their own to compare them with."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stethoscope.compare.parity.comparison import ComparedLayer, Parting
from stethoscope.types import Architecture

_HEALED = 0.1
"""A layer that reads another and is off by no more than this share of it has not read what was compared there."""

_FAR = 0.05
"""A difference from which a layer beside a far nearer one with the same counterpart is no pair, whatever went into it."""


def merged(rows: Sequence[ComparedLayer], parting: Parting | None, first: Architecture) -> set[str]:
    """Keys of the rows that are merged.

    A row is merged where its difference is large or not explained, the models do not part at it, and it belongs to the group in
    which they part, or another layer has the same counterpart and a far smaller difference, or a layer that reads it has.

    Args:
        rows: layers that both models have.
        parting: where they part.
        first: the first model's architecture, for which layer reads which.
    """
    at, there = ("", "") if parting is None else parting.place
    group = set(() if parting is None else parting.group) - {at}
    lowest: dict[str, float] = {}
    for one in rows:
        lowest[one.b] = min(lowest.get(one.b, math.inf), _off(one))
    off = {one.a: _off(one) for one in rows}
    if parting is not None and at and at not in off and parting.nrmse is not None:
        # Where they part there may be no row: the layer's own answer was found by computing it.
        off[at] = parting.nrmse
        lowest[there] = min(lowest.get(there, math.inf), off[at])
    readers: dict[str, list[str]] = {}
    for layer in first.layers:
        for name in layer.inputs:
            readers.setdefault(name, []).append(layer.path)
    found = set()
    for one in rows:
        nearer = _off(one) > lowest[one.b] / _HEALED
        if one.a == at or (one.same and not (nearer and _off(one) > _FAR)):
            continue
        healed = one.how == "structure" and any(
            off[name] <= _HEALED * _off(one) for name in readers.get(one.a, ()) if name in off
        )
        if one.a in group or nearer or healed:
            found.add(one.key)
    return found


def _off(row: ComparedLayer) -> float:
    return math.inf if row.nrmse is None else row.nrmse
