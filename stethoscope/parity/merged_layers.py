"""Layers that the other model computes only together with a neighbour: there is nothing of their own to compare them with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from stethoscope.types import Architecture

_HEALED = 0.1
"""A layer that reads another and is off by no more than this share of it has not read what was compared there."""

_FAR = 0.05
"""A difference from which a layer beside a far nearer one with the same counterpart is no pair, whatever went into it."""


def merged(rows: Sequence[Mapping[str, Any]], parting: Mapping[str, Any] | None, first: Architecture) -> set[str]:
    """Keys of the rows that are merged.

    A row is merged where its difference is large or not explained, the models do not part at it, and it belongs to the group in
    which they part, or another layer has the same counterpart and a far smaller difference, or a layer that reads it has.

    Args:
        rows: "layers" of the task `compare`.
        parting: "first_divergence" of it.
        first: the first model's architecture, for which layer reads which.
    """
    seen_at = (parting or {}).get("seen_at") or parting or {}
    at = str(seen_at.get("a") or "")
    group = set((parting or {}).get("group") or ()) - {at}
    lowest: dict[str, float] = {}
    for one in rows:
        lowest[one["b"]] = min(lowest.get(one["b"], math.inf), _off(one))
    off = {one["a"]: _off(one) for one in rows}
    if at and at not in off and (parting or {}).get("nrmse") is not None:
        # Where they part there may be no row: the layer's own answer was found by computing it.
        off[at] = float((parting or {})["nrmse"])
        lowest[str(seen_at.get("b"))] = min(lowest.get(str(seen_at.get("b")), math.inf), off[at])
    readers: dict[str, list[str]] = {}
    for layer in first.layers:
        for name in layer.inputs:
            readers.setdefault(name, []).append(layer.path)
    found = set()
    for one in rows:
        nearer = _off(one) > lowest[one["b"]] / _HEALED
        if one["a"] == at or (one["same"] and not (nearer and _off(one) > _FAR)):
            continue
        healed = one["how"] == "structure" and any(
            off[name] <= _HEALED * _off(one) for name in readers.get(one["a"], ()) if name in off
        )
        if one["a"] in group or nearer or healed:
            found.add(one["key"])
    return found


def _off(row: Mapping[str, Any]) -> float:
    return math.inf if row["nrmse"] is None else float(row["nrmse"])
