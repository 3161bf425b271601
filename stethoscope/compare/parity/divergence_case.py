"""The place where two models part, gathered for the causes: what went in and came out, settings and weights of both files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.layer_kinds import Kind, kind_of
from stethoscope.architecture.layer_looks import changes, kind_word
from stethoscope.architecture.matching import is_across
from stethoscope.compare.parity.causes.case import Added, Case, SettingChange, WeightPair
from stethoscope.compare.parity.first_divergence import Divergence
from stethoscope.compare.parity.layer_pairs import turned
from stethoscope.compare.parity.layer_tensors import LayerTensors
from stethoscope.compare.parity.side import SideSeen
from stethoscope.compare.parity.walk import View
from stethoscope.errors import StethoscopeError
from stethoscope.models.formats import format_of
from stethoscope.models.model_format import StoredWeight
from stethoscope.models.weights.weight_statistics import opened
from stethoscope.types import Layer

_PARTS, _NUMBER = re.compile(r"[/;:]+"), re.compile(r"_\d+$")
_SAME, _MOST_ADDED = 1e-4, 12
_MOST_VALUES = 16 << 20
"""Of a weight that is read for comparing, and of an array that a cause looks at."""


def only_in_second(view: View) -> tuple[str, ...]:
    """The second model's operators between what is the same in both and where they part, the last first."""
    found, second, (mine, others) = view.found, view.second, view.tensors
    taken = {
        others.layers[pair.b]
        for pair in view.pairs.values()
        if pair.difference.nrmse < _SAME or mine.layers[pair.a] in found.known
    }
    waiting = list(second.layer(others.layers[found.pair.b]).inputs)
    seen: dict[str, None] = {}
    while waiting and len(seen) < _MOST_ADDED:
        path = waiting.pop()
        if path not in seen and path not in taken:
            seen[path] = None
            waiting.extend(second.layer(path).inputs)
    return tuple(seen)


def carried_names(path: str) -> set[str]:
    """Names of layers that a converter may have left in an operator's ("model/dense_1/MatMul;model/dense_1/BiasAdd")."""
    parts = [part for part in _PARTS.split(path) if part]
    return {*parts, *(_NUMBER.sub("", part) for part in parts)}


def _at_the_place(found: Divergence, added: Sequence[str], others: LayerTensors) -> tuple[str, ...]:
    """Keys of the operators that only the second model has, of the one that parts, and of those that carry the name of its layer."""
    name = found.layer.rsplit("/", 1)[-1]
    keys = [key for path in added for key in others.keys_of(path)[:1]]
    named = [key for key in others if name in carried_names(others.layers[key])]
    return tuple(dict.fromkeys([*keys, found.pair.b, *named[:_MOST_ADDED]]))


def gathered(view: View, added: Sequence[str]) -> Case:
    """The case.

    Args:
        view: where, as one of the models sees it; neither need be open any more.
        added: as `only_in_second` tells.
    """
    found, first, second, tensors, matched = view.found, view.first, view.second, view.tensors, view.matched
    a, b = turned(found.pair, *tensors)
    layer = first.layer(found.layer)
    channel = 1 if first.channels_first and a.ndim > 2 else -1
    partner = tensors[1].layers[found.pair.b]
    inputs = [tensors[0].read(key) for path in found.known for key in tensors[0].keys_of(path)[:1]]
    group = tuple(first.layer(path) for path in found.group)
    return Case(
        _finite(a),
        _finite(b),
        layer,
        group,
        tuple(_finite(one) for one in inputs if one.size <= _MOST_VALUES),
        {
            path: _finite(tensors[0].read(key))
            for path in (*found.known, *found.group)
            for key in tensors[0].keys_of(path)[:1]
            if tensors[0].moments[key].count <= _MOST_VALUES
        },
        channel,
        _settings(found, first, second, matched, partner),
        _weights(found, first, second, matched, partner),
        max(tensors[0].moved.get(found.pair.a, 0.0), tensors[1].moved.get(found.pair.b, 0.0)),
        tensors[1].quantised.get(found.pair.b),
        tensors[1].steps.get(found.pair.b),
        tuple(
            Added(tensors[1].layers[key], _finite(tensors[1].read(key)), tensors[1].quantised.get(key))
            for key in _at_the_place(found, added, tensors[1])
            if tensors[1].moments[key].count <= _MOST_VALUES
        ),
    )


def _finite(array: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.nan_to_num(np.asarray(array, np.float64), nan=0.0, posinf=3e38, neginf=-3e38)


def _settings(
    found: Divergence, first: SideSeen, second: SideSeen, matched: Mapping[str, tuple[str, str]], partner: str
) -> tuple[SettingChange, ...]:
    if is_across(first.architecture, second.architecture):
        return _other_kind(found, first.layer(found.layer), second.layer(partner))
    partners = {a: b for a, (b, _) in matched.items()}
    told = []
    for path in reversed(found.group):
        other = partners.get(path) or (partner if path == found.layer else "")
        mine = first.layer(path)
        if not other and kind_of(mine.type, mine.parameters) is Kind.ACTIVATION:
            told.append(SettingChange(path, "type", mine.type, "Identity"))
        if not other:
            continue
        for change in changes(first.layer(path), second.layer(other), partners, across=False):
            if change.what in ("config", "type") or (
                change.what == "inputs" and _rewired(mine, second.layer(other), partners)
            ):
                told.append(SettingChange(path, change.field, change.a, change.b))
    return tuple(told)


def _rewired(mine: Layer, other: Layer, partners: Mapping[str, str]) -> bool:
    """Whether the layer reads other layers than its counterpart, all of which the other model has too."""
    read = [partners.get(path) for path in mine.inputs]
    taken = [one.path for one in mine.operands if one.path], [one.path for one in other.operands if one.path]
    if not set(other.inputs) <= set(partners.values()) or None in read:
        return False
    if all(taken):
        return [partners.get(path) for path in taken[0]] != taken[1]
    return set(read) != set(other.inputs)


def _other_kind(found: Divergence, mine: Layer, other: Layer) -> tuple[SettingChange, ...]:
    """Operators that do nothing else are told apart by their kind, in whatever language: mean and maximum, ReLU and sigmoid."""
    kinds = [kind_word(mine), kind_word(other)]
    alone = [
        kind in _POOLS or kind_of(layer.type, layer.parameters) is Kind.ACTIVATION
        for kind, layer in zip(kinds, (mine, other), strict=True)
    ]
    if kinds[0] == kinds[1] or not all(alone) or (kinds[0] in _POOLS) != (kinds[1] in _POOLS):
        return ()
    return (SettingChange(found.layer, "type", kinds[0], kinds[1]),)


_POOLS = ("reducemean", "reducemax", "max pooling", "average pooling")


def _weights(
    found: Divergence, first: SideSeen, second: SideSeen, matched: Mapping[str, tuple[str, str]], partner: str
) -> tuple[WeightPair, ...]:
    """The tensors of the group's layers beside those of the second model's, in whatever file they are."""
    told: list[WeightPair] = []
    with ExitStack() as stack:
        held = []
        for side in (first, second):
            try:
                held.append(stack.enter_context(opened(side.file)))
            except StethoscopeError:
                return ()
        for path in found.group:
            mine = [one for one in held[0].get(path, ()) if not one.unreadable and one.count <= _MOST_VALUES]
            other = matched.get(path, ("", ""))[0] or (partner if path == found.layer else "")
            theirs = [one for one in held[1].get(other, ()) if not one.unreadable and one.count <= _MOST_VALUES]
            for one in mine:
                counterpart = _counterpart(one, theirs)
                left = format_of(first.architecture).as_keras_lies(_read(one), first.layer(path))
                right = None
                if counterpart is not None:
                    theirs.remove(counterpart)
                    right = format_of(second.architecture).as_keras_lies(_read(counterpart), second.layer(other))
                told.append(WeightPair(path, one.name, left, right))
    return tuple(told)


def _counterpart(one: StoredWeight, others: Sequence[StoredWeight]) -> StoredWeight | None:
    def short(weight: StoredWeight) -> list[int]:
        return [size for size in weight.shape if size != 1]

    named = [other for other in others if other.name == one.name and other.count == one.count]
    alike = [other for other in others if other.shape == one.shape]
    turned_ones = [other for other in others if sorted(short(other)) == sorted(short(one))]
    return next(iter([*named, *alike, *turned_ones]), None)


def _read(weight: StoredWeight) -> npt.NDArray[Any]:
    return np.concatenate([piece.reshape(-1) for piece in weight.pieces()] or [np.zeros(0)]).reshape(weight.shape)
