"""Which tensor of one model is which of the other: by the match of their layers, and by the values themselves.

The first quantised tensor that cuts off what it should hold: told even where the outputs stay within the wide tolerance of integers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.compare.parity.array_difference import (
    ArrayDifference,
    Orientation,
    array_difference,
    candidates,
    orient,
)
from stethoscope.compare.parity.layer_tensors import LayerTensors, Moments, near

How = Literal["name", "structure", "values"]
_MOST_NAMED = 8
_PARTS = re.compile(r"[/;:]+")
_NUMBER = re.compile(r"_\d+$")
_MOST_TRIED = 24
"""Tensors with like moments that one is compared with."""


@dataclass(frozen=True)
class TensorPair:
    """Tensor `a` of the first model is tensor `b` of the second."""

    a: str
    b: str
    how: How
    orientation: Orientation
    difference: ArrayDifference

    def exchanged(self) -> TensorPair:
        """The same pair as the second model sees it; the difference is that of either."""
        return TensorPair(self.b, self.a, self.how, self.orientation.back(), self.difference)


def pair(
    first: LayerTensors,
    second: LayerTensors,
    matched: Mapping[str, tuple[str, Literal["name", "structure"]]],
    equal: float,
    *,
    certain: bool = False,
) -> dict[str, TensorPair]:
    """Pairs tensors of two models that have run on the same rows; the result is by the key in the first.

    Args:
        first: of the first model.
        second: of the second.
        matched: the second model's layer for each layer of the first, and how it was matched.
        equal: the root mean square difference, as a share, up to which two tensors count as the same.
        certain: layers that are matched by name are each other, whatever they answer: both files speak the same language.

    A tensor whose values are found again is that tensor, whatever the layers are called. One whose values are not found is paired with
    that of the layer it is matched with: that is where the models part. Of several with the same values (an activation that
    changes nothing), the one whose layer is matched, then the nearest in order. What a layer answers that changed nothing (dropout) is
    not looked for before the tensor that stands for what went in.
    """
    found: dict[str, TensorPair] = {}
    kept: dict[Moments, str] = {}
    places = {key: place for place, key in enumerate(second)}
    index, named = _Index(second), _Names(second, first)
    at = 0.0
    ratio = len(second) / max(1, len(first))
    for key in first:
        layer, how = matched.get(first.layers[key], ("", "structure"))
        mine = second.keys_of(layer) if layer else []
        number = first.keys_of(first.layers[key]).index(key)
        likely = [
            *mine[number : number + 1],
            *(one for one in mine if one != (mine[number] if number < len(mine) else None)),
        ]
        best: TensorPair | None = None
        sure = certain and how == "name" and bool(likely)
        if not certain:
            # The last operator that carries a layer's name is what the layer answers; the one it is matched with may be its first.
            likely = list(dict.fromkeys([*named.of(first.layers[key]), *likely]))
        others = [] if sure else sorted(index.like(first, key, equal), key=lambda one: abs(places[one] - at))
        before = found.get(kept.get(first.moments[key], ""))
        if before is not None and not _unchanged(first, before.a, key):
            before = None
        if before is not None:
            others = [one for one in others if places[one] >= places[before.b]]
        for other in [*likely, *[one for one in others if one not in likely][:_MOST_TRIED]]:
            compared = _compared(key, other, first, second, how if other in likely else "values")
            if compared is None:
                continue
            off = compared.difference.nrmse
            nearer = best is None or (off < 0.5 * best.difference.nrmse and best.difference.nrmse > equal)
            if best is not None and best.orientation.is_plain and compared.orientation.reshaped:
                continue  # what is only reshaped is what goes into a Flatten as well as what comes out
            if nearer and (other in likely or off <= equal):
                best = compared
            if best is not None and best.difference.nrmse <= equal:
                break
        if best is None and before is not None:
            best = replace(before, a=key)
        if best is not None:
            found[key] = best
            kept[first.moments[key]] = key
            at = places[best.b] if best.difference.nrmse <= equal else at + ratio
    return _turned_as_usual(found, first, second, equal)


def _turned_as_usual(
    pairs: Mapping[str, TensorPair], first: LayerTensors, second: LayerTensors, equal: float
) -> dict[str, TensorPair]:
    """The pairs; those that differ and whose shapes leave it open whether they are turned (12, 12, 12) lie as most others do."""
    usual: dict[int, Counter[tuple[int, ...]]] = {}
    open_ones: dict[str, list[Orientation]] = {}
    for key, one in pairs.items():
        shape = first.read(key).shape
        ways = list(candidates(shape, second.read(one.b).shape))
        if not any(way.is_plain for way in ways) or one.difference.nrmse <= equal:
            usual.setdefault(len(shape), Counter())[one.orientation.order] += 1
        else:
            open_ones[key] = ways
    found = dict(pairs)
    for key, ways in open_ones.items():
        left, right = first.read(key), second.read(pairs[key].b)
        order = next((order for order, _ in usual.get(left.ndim, Counter()).most_common(1)), None)
        way = next((way for way in ways if way.order == order), None)
        if way is not None and way != pairs[key].orientation:
            made = array_difference(left, way.apply(np.asarray(right), left.shape))
            found[key] = replace(pairs[key], orientation=way, difference=made)
    return found


def _unchanged(tensors: LayerTensors, one: str, other: str) -> bool:
    left, right = tensors.read(one), tensors.read(other)
    return left.shape == right.shape and bool(np.array_equal(left, right))


class _Index:
    """Tensors of the second model by their number of values."""

    def __init__(self, tensors: LayerTensors) -> None:
        self._tensors = tensors
        self._by_count: dict[int, list[str]] = {}
        for key in tensors:
            self._by_count.setdefault(tensors.moments[key].count, []).append(key)

    def like(self, first: LayerTensors, key: str, equal: float) -> Iterator[str]:
        mine = first.moments[key]
        for other in self._by_count.get(mine.count, ()):
            if near(mine, self._tensors.moments[other], max(1e-4, 3 * equal)):
                yield other


class _Names:
    """Tensors of the second model by the names of layers that are left in theirs ("model/dense_1/MatMul;model/dense_1/BiasAdd")."""

    def __init__(self, tensors: LayerTensors, first: LayerTensors) -> None:
        self._keys: dict[str, list[str]] = {}
        self._parts = {key: _names_in(key) for key in tensors}
        for key, parts in self._parts.items():
            for name in parts:
                self._keys.setdefault(name, []).append(key)
        self._layers = Counter(_NUMBER.sub("", _last(layer)) for layer in set(first.layers.values()))

    def of(self, layer: str) -> list[str]:
        """The last few tensors that carry a layer's name: what it answers comes after what it computes on the way.

        An operator's path ends in what it does ("model/dense_1/Add"): one of the same end counts only where more of the path is the
        same, and those with most in common come first.
        """
        last = _last(layer)
        found = self._keys.get(last, [])
        if self._layers[_NUMBER.sub("", last)] > 1 and "/" in layer:
            mine = _names_in(layer)
            alike = {key: len(mine & self._parts[key]) for key in self._keys.get(_NUMBER.sub("", last), found)}
            scope = _NUMBER.sub("", _last(re.split("[;:]", layer)[0].rpartition("/")[0]))
            found = sorted((key for key in alike if scope in self._parts[key]), key=lambda key: alike[key])
        return found[: -1 - _MOST_NAMED : -1]


def _last(layer: str) -> str:
    return layer.rsplit("/", 1)[-1]


def _names_in(path: str) -> set[str]:
    parts = [part for part in _PARTS.split(path) if part]
    return {*parts, *(_NUMBER.sub("", part) for part in parts)}


def _compared(a: str, b: str, first: LayerTensors, second: LayerTensors, how: How) -> TensorPair | None:
    left, right = first.read(a), second.read(b)
    if not any(True for _ in candidates(left.shape, right.shape)):
        return None
    turned = orient(left, right)
    if turned is None:
        return None
    return TensorPair(a, b, how, turned[0], array_difference(left, turned[1]))


def turned(pair: TensorPair, first: LayerTensors, second: LayerTensors) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Both arrays of a pair, the second turned as the first lies."""
    left = first.read(pair.a)
    return left, pair.orientation.apply(np.asarray(second.read(pair.b)), left.shape)


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
