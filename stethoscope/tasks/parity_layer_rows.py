"""Pairs of layers as rows of the answer, and what they say that a verdict does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stethoscope.parity.cut_range import CutRange
from stethoscope.parity.layer_pairs import TensorPair
from stethoscope.parity.layer_tensors import LayerTensors


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


def at_the_cut(cut: CutRange, first: LayerTensors, second: LayerTensors, name: str) -> dict[str, Any]:
    """The "first_divergence" of models whose outputs are within tolerance although a layer cuts off what it should hold."""
    layer, there = first.layers[cut.pair.a], second.layers[cut.pair.b]
    told = (
        f"{layer!r} of {name} holds {cut.low:.3g} to {cut.high:.3g}: {cut.share:.1%} of what it should answer lies beyond and is cut off, "
        f"which explains {1 - cut.left:.0%} of its difference."
    )
    return {
        "a": layer,
        "b": there,
        "layer": layer,
        "seen_at": {"a": layer, "b": there},
        "group": [layer],
        "cause": "The range is clipped",
        "cause_id": "clipped-range",
        "confidence": 0.92 if cut.left < 0.1 else 0.75,
        "sentence": told,
        "fix": "Find the ranges again with rows like those of use (the representative data set), or widen this tensor's.",
        "nrmse": cut.pair.difference.to_json()["nrmse"],
        "guesses": [],
    }
