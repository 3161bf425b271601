"""The first layer at which two models part: where all that goes in is the same, and what comes out is not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stethoscope.compare.parity.array_difference import array_difference, orient
from stethoscope.compare.parity.layer_pairs import TensorPair
from stethoscope.compare.parity.layer_tensors import LayerTensors
from stethoscope.types import Architecture

JUMP = 12.0
"""Times the difference that went in: more than layers make of a difference by themselves."""
_QUANTISED_FLOOR, _QUANTISED_JUMP = 0.04, 3.5
_HEALED = 0.1
"""A layer after it that is off by no more than this share of what it is off by cannot have read it."""
_STEP_NOISE = 1 / math.sqrt(12)
"""Of a value rounded to steps, in steps (Widrow and Kollár, Quantization Noise, 2008)."""


@dataclass(frozen=True)
class Divergence:
    """Where two models part."""

    pair: TensorPair
    layer: str
    """Of the first model."""
    group: tuple[str, ...]
    """It, and before it the layers of the first model that the second does not show, in order."""
    known: tuple[str, ...]
    """Layers whose answers go into the group and are the same in both models."""


@dataclass(frozen=True)
class LayerError:
    """One layer's difference."""

    key: str
    layer: str
    nrmse: float
    same: bool
    """Whether it is explained by what went in and by the precision."""
    exact: bool
    """Whether the precision alone explains it."""


def layer_errors(
    first: LayerTensors,
    second: LayerTensors,
    pairs: Mapping[str, TensorPair],
    sources: Mapping[str, Sequence[str]],
    *,
    floor: float,
    excused: Collection[str] = (),
) -> list[LayerError]:
    """The difference of every paired tensor in order, and whether what went into it explains it.

    Args:
        first: of the first model.
        second: of the second.
        pairs: by key.
        sources: the layers that each layer reads.
        floor: the share that the precision of both alone may make.
        excused: layers whose difference is put right by those that read them.
    """
    found: list[LayerError] = []
    by_layer: dict[str, float] = {}
    before = _Before(first, sources)
    for key in first:
        pair = pairs.get(key)
        if pair is None:
            continue
        layer = first.layers[key]
        off = pair.difference.nrmse
        rms = math.hypot(first.moments[key].mean, first.moments[key].std) or 1e-30
        step = second.steps.get(pair.b, 0.0)
        quantised = bool(step)
        noise = step * _STEP_NOISE / rms
        went_in = max((by_layer[one] for one in before.of(layer) if one in by_layer), default=0.0)
        alone = _QUANTISED_FLOOR if quantised else floor
        allowed = max(alone, (_QUANTISED_JUMP if quantised else JUMP) * math.hypot(went_in, 2 * noise))
        if layer in excused:
            found.append(LayerError(key, layer, off, True, False))
            by_layer[layer] = 0.0
            continue
        same = off <= allowed
        found.append(LayerError(key, layer, off, same, off <= alone))
        if same or layer not in by_layer:
            by_layer[layer] = max(by_layer.get(layer, 0.0), off)
    return found


def first_divergence(
    architecture: Architecture,
    first: LayerTensors,
    second: LayerTensors,
    pairs: Mapping[str, TensorPair],
    errors: Sequence[LayerError],
) -> Divergence | None:
    """The first of the layers whose difference nothing explains, None where there is none.

    A layer whose partner answers otherwise, but whose readers all agree again, was only paired with the wrong one (an operator that
    has more layers in it): it is passed over.
    """
    sources = reads(architecture, first)
    good = {one.layer for one in errors if one.same}
    bad = [one for one in errors if not one.same]
    bad_layers = {one.layer for one in bad}
    tells = _telling(first)
    later = _agree_later([one for one in errors if one.exact and tells(one.key)], sources)
    worst = {one.layer: one.nrmse for one in bad}
    healed = {layer for layer, off in later.items() if off <= _HEALED * worst.get(layer, math.inf)}
    for one in bad:
        if one.layer in healed or not tells(one.key):
            continue
        end = _end(one, pairs, sources, first, second)
        fused = {first.layers[key] for key, paired in pairs.items() if paired.b == end.pair.b} | set(end.inside)
        group, known = _group(end.layer, sources, good - bad_layers - fused, bad_layers - fused, healed - fused)
        passed = _passing(known, sources, first, pairs)
        return Divergence(end.pair, end.layer, (*passed, *group), known)
    return None


@dataclass(frozen=True)
class _End:
    """The layer whose answer the second model's tensor is, and those on the way to it that it does not show."""

    pair: TensorPair
    layer: str
    inside: tuple[str, ...]


def _end(
    start: LayerError,
    pairs: Mapping[str, TensorPair],
    sources: Mapping[str, Sequence[str]],
    first: LayerTensors,
    second: LayerTensors,
) -> _End:
    """Goes on from a layer while the second model has no other tensor for the next: an operator may be several layers in one.

    Of the layers on the way, the one whose answer is most like the tensor's; of equals, the last.
    """
    shown = pairs[start.key]
    readers: dict[str, list[str]] = {}
    for layer, read in sources.items():
        for source in read:
            readers.setdefault(source, []).append(layer)
    way, best = [start.layer], _End(shown, start.layer, (start.layer,))
    least = shown.difference.nrmse
    layer = start.layer
    while len(readers.get(layer, ())) == 1:
        layer = readers[layer][0]
        keys = first.keys_of(layer)
        paired = pairs.get(keys[0]) if keys else None
        if not keys or (paired is not None and paired.b != shown.b):
            break
        left = first.read(keys[0])
        turned_one = orient(left, np.asarray(second.read(shown.b)))
        if turned_one is None:
            break
        way.append(layer)
        made = TensorPair(keys[0], shown.b, shown.how, turned_one[0], array_difference(left, turned_one[1]))
        unlike = made.difference.nrmse
        if unlike <= least * 1.02 or paired is not None:
            least, best = min(unlike, least), _End(made, layer, tuple(way))
    return best


def _passing(
    known: Sequence[str], sources: Mapping[str, Sequence[str]], first: LayerTensors, pairs: Mapping[str, TensorPair]
) -> tuple[str, ...]:
    """Layers before the group that changed nothing in the first model, and are no tensor of their own in the second (dropout)."""
    found = []
    for layer in known:
        mine = first.keys_of(layer)[:1]
        read = [key for source in sources.get(layer, ()) for key in first.keys_of(source)[:1]]
        if not (mine and len(read) == 1 and mine[0] in pairs and read[0] in pairs):
            continue
        alike = first.moments[mine[0]] == first.moments[read[0]]
        if pairs[mine[0]].b == pairs[read[0]].b and alike and np.array_equal(first.read(mine[0]), first.read(read[0])):
            found.append(layer)
    return tuple(found)


def reads(architecture: Architecture, tensors: LayerTensors) -> dict[str, tuple[str, ...]]:
    """The layers that each layer reads: as the file says, else the one that ran before it."""
    known = {layer.path: layer.inputs for layer in architecture.layers}
    found: dict[str, tuple[str, ...]] = {}
    last = ""
    for layer in dict.fromkeys(tensors.layers.values()):
        said = known.get(layer, ())
        found[layer] = said or ((last,) if last and layer not in known else ())
        last = layer
    for path, inputs in known.items():
        found.setdefault(path, inputs)
    return found


class _Before:
    """The nearest layers with a tensor before a layer, through those without."""

    def __init__(self, tensors: LayerTensors, sources: Mapping[str, Sequence[str]]) -> None:
        self._shown, self._sources = set(tensors.layers.values()), sources

    def of(self, layer: str) -> set[str]:
        found: set[str] = set()
        waiting, seen = list(self._sources.get(layer, ())), set()
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            if one in self._shown:
                found.add(one)
            else:
                waiting.extend(self._sources.get(one, ()))
        return found


def _telling(tensors: LayerTensors) -> Callable[[str], bool]:
    """Whether a tensor has other values for other rows: a shape or a constant agrees, or does not, whatever goes in."""
    sizes = Counter(tensors.read(key).shape[0] for key in tensors)
    rows = next((size for size, _ in sizes.most_common(1)), 1)

    def tells(key: str) -> bool:
        if tensors.moments[key].std == 0:
            return False
        values = tensors.read(key)
        return rows < 2 or (values.shape[0] >= rows and not bool((values == values[:1]).all()))

    return tells


def _agree_later(errors: Sequence[LayerError], sources: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """For each layer, the least difference among the layers that come after it, of those that are told to agree."""
    found: dict[str, float] = {}
    for one in sorted(errors, key=lambda one: one.nrmse):
        waiting = list(sources.get(one.layer, ()))
        while waiting:
            layer = waiting.pop()
            if layer not in found:
                found[layer] = one.nrmse
                waiting.extend(sources.get(layer, ()))
    return found


def _group(
    layer: str, sources: Mapping[str, Sequence[str]], good: set[str], bad: set[str], healed: set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(the layer and what the second model does not show before it, in order; the good layers that go in)."""
    group, known, waiting = [layer], [], list(sources.get(layer, ()))
    seen = {layer}
    while waiting:
        one = waiting.pop(0)
        if one in seen:
            continue
        seen.add(one)
        if one in good or one in healed:
            known.append(one)
            continue
        if one in bad:
            continue
        group.append(one)
        waiting.extend(sources.get(one, ()))
    return tuple(reversed(group)), tuple(known)
