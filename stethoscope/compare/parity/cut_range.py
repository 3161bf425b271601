"""The first quantised tensor that cuts off what it should hold: told even where the outputs stay within the wide tolerance of integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from stethoscope.compare.parity.layer_pairs import TensorPair, turned
from stethoscope.compare.parity.layer_tensors import LayerTensors

_SHARE = 0.01
"""Of the values that lie beyond: ranges found with rows like these leave out fewer."""
_OFF = 0.05
"""Root mean square difference as a share of the values."""
_LEFT = 0.2
"""Share of the squared difference that may be left when the values are cut off here, too."""


@dataclass(frozen=True)
class CutRange:
    """Where values are cut off."""

    pair: TensorPair
    low: float
    high: float
    share: float
    """Of the first model's values that lie beyond."""
    left: float
    """Share of the squared difference that cutting them off does not explain."""


def first_cut(first: LayerTensors, second: LayerTensors, pairs: Mapping[str, TensorPair]) -> CutRange | None:
    """The first layer, in order, that is off because its counterpart's range ends too early.

    Of several layers paired with one tensor (an operator with more layers in it), only the one most like it is looked at: a tensor behind
    a ReLU does not cut off what the layer before the ReLU answered.
    """
    nearest: dict[str, str] = {}
    for key, pair in pairs.items():
        best = nearest.get(pair.b)
        if best is None or pair.difference.nrmse <= pairs[best].difference.nrmse:
            nearest[pair.b] = key
    for key in first:
        found = pairs.get(key)
        if found is None or found.b not in second.quantised or nearest[found.b] != key:
            continue
        if found.difference.nrmse < _OFF:
            continue
        low, high = second.quantised[found.b]
        cut = _cut(found, first, second, low, high)
        if cut is not None:
            return cut
    return None


def _cut(pair: TensorPair, first: LayerTensors, second: LayerTensors, low: float, high: float) -> CutRange | None:
    a, b = turned(pair, first, second)
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    step = second.steps[pair.b]
    share = float(np.mean((a < low - step / 2) | (a > high + step / 2)))
    gap = float(np.sum(np.square(b - a)))
    if share < _SHARE or not gap:
        return None
    left = float(np.sum(np.square(b - np.clip(a, low, high)))) / gap
    return CutRange(pair, low, high, share, left) if left <= _LEFT else None
