"""Pairs of layers as rows of the answer, and what they say that a verdict does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stethoscope.parity.layer_pairs import TensorPair
from stethoscope.parity.layer_tensors import LayerTensors

_MUCH = 0.2
"""Of a layer's values that are cut off."""


def cut_off_inside(rows: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """A sentence on the layer that cuts off most, where it is much: the tolerance of integers is wide enough to hide it."""
    much = [one for one in rows if not one["merged"] and not one["same"] and (one["clipped"] or 0.0) >= _MUCH]
    if not much:
        return []
    worst = max(much, key=lambda one: one["clipped"])
    low, high = worst["range"]
    return [
        f"Layer {worst['b']!r} of {name} holds {low:.3g} to {high:.3g}: {worst['clipped']:.0%} of what {worst['a']!r} answers lies beyond "
        "and is cut off. Calibrate it with rows like these."
    ]


def layer_row(one: TensorPair, first: LayerTensors, second: LayerTensors, same: bool) -> dict[str, Any]:
    """A pair as one of the "layers" of the task `compare`; `same` is whether its difference is explained."""
    said = one.difference.to_json()
    row: dict[str, Any] = {
        "key": one.a,
        "a": first.layers[one.a],
        "b": second.layers[one.b],
        "how": one.how,
        "orientation": one.orientation.said(),
        "nrmse": said["nrmse"],
        "max_abs": said["max_abs"],
        "cosine": one.difference.cosine,
        "sqnr_db": one.difference.sqnr_db,
        "same": same,
        "clipped": None,
    }
    if one.b in second.quantised:
        low, high = second.quantised[one.b]
        values = first.read(one.a)
        row["clipped"] = float(np.mean((values < low) | (values > high)))
        row["range"], row["step"] = [low, high], second.steps[one.b]
    return row


def at_the_input(tried: Mapping[str, Any], tensors: LayerTensors, pairs: Mapping[str, TensorPair]) -> dict[str, Any]:
    """The "first_divergence" of models that part before their first layer, where a change of the input explains it."""
    key = next((one for one in tensors if one in pairs), None)
    return {
        "a": tensors.layers[key] if key else "",
        "b": pairs[key].b if key else "",
        "layer": tensors.layers[key] if key else "",
        "group": [],
        "cause": tried["title"],
        "cause_id": tried["cause_id"],
        "confidence": tried["confidence"],
        "sentence": tried["sentence"],
        "fix": tried["fix"],
        "guesses": [],
    }
