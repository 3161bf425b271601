"""How far two sets of weights are apart, array by array: two checkpoints of one training, weights beside a model. Executes nothing."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Literal

from stethoscope.models.formats import detect
from stethoscope.models.model_format import StoredWeight
from stethoscope.models.weights.fitting import Misfit, matched, one_layer
from stethoscope.models.weights.weight_statistics import real, side_by_side
from stethoscope.models.weights_only import WeightsOnly
from stethoscope.task import TaskContext
from stethoscope.types import ModelFile

_AMBIGUOUS = "the other side numbers its arrays, and several of this layer have this shape"
_CLOSE = 1e-5
"""Relative: what rounding to float32 and back leaves, far below what a step of training changes."""


@dataclass(frozen=True)
class ArrayDifference:
    """One array in both. Norms are Euclidean, over values that are finite in both."""

    name: str
    is_weight: bool
    """False of what an optimizer keeps, and of counters."""
    shape: tuple[int, ...]
    norm_a: float = 0.0
    norm_b: float = 0.0
    norm_of_difference: float = 0.0
    relative: float = 0.0
    """The norm of the difference over the larger norm."""
    max_abs_diff: float = 0.0
    changed: int = 0
    """How many values are not the same, to the bit; NaN is the same as NaN."""
    nonfinite_a: int = 0
    nonfinite_b: int = 0
    unreadable: str = ""
    """Why nothing is known of its values; "" where it is."""


@dataclass(frozen=True)
class WeightsDifference:
    """What both hold, and what only one of them does."""

    verdict: Literal["equal", "within_tolerance", "different"]
    weights: tuple[ArrayDifference, ...]
    misfits: tuple[Misfit, ...] = ()
    """Arrays of different shapes, or in one of two layers only ("model" is the first of the two files)."""
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    note: str = ""


class CompareWeights:
    """params: none; files: "model", "other"."""

    kind = "compare_weights"
    answer = WeightsDifference

    def run(self, context: TaskContext) -> WeightsDifference:
        """Reads both side by side, one array after another.

        Raises:
            UnreadableFile, UnsafeFile, TooLarge: as `describe` of either.
        """
        first, second = context.files["model"], context.files["other"]
        context.report("match", message=f"matching {first.name} with {second.name}")
        with ExitStack() as stack:
            found = _by_path(first, second, stack) or _by_layer(first, second, stack)
            told = []
            for place, (name, is_weight, a, b) in enumerate(found.both):
                context.report("weights", place / len(found.both), f"comparing {name[-80:]}")
                told.append(_apart(name, is_weight, a, b))
        return WeightsDifference(
            _verdict(told, found),
            tuple(told),
            tuple(found.misfits),
            tuple(found.only_a),
            tuple(found.only_b),
            found.note,
        )


@dataclass(frozen=True)
class _Pairs:
    both: list[tuple[str, bool, StoredWeight, StoredWeight]]
    misfits: list[Misfit]
    only_a: list[str]
    only_b: list[str]
    note: str = ""


def _by_path(first: ModelFile, second: ModelFile, stack: ExitStack) -> _Pairs | None:
    """Two files of weights that name most of their arrays alike."""
    kinds = detect(first), detect(second)
    if not isinstance(kinds[0], WeightsOnly) or not isinstance(kinds[1], WeightsOnly):
        return None
    left = {one.path: one for one in stack.enter_context(kinds[0].held(first)).variables}
    right = {one.path: one for one in stack.enter_context(kinds[1].held(second)).variables}
    common = [path for path in left if path in right]
    if 2 * len(common) < min(len(left), len(right)):
        return None
    alike = [path for path in common if left[path].weight.shape == right[path].weight.shape]
    return _Pairs(
        [(path, left[path].part.is_weight, left[path].weight, right[path].weight) for path in alike],
        [
            Misfit(left[path].layer, left[path].weight.name, left[path].weight.shape, right[path].weight.shape)
            for path in common
            if path not in set(alike)
        ],
        [path for path in left if path not in right],
        [path for path in right if path not in left],
    )


def _by_layer(first: ModelFile, second: ModelFile, stack: ExitStack) -> _Pairs:
    """A model and weights, in either order, or weights whose names differ; what optimizers keep is left out."""
    swapped = detect(first).only_weights and not detect(second).only_weights
    found = stack.enter_context(matched(second, first) if swapped else matched(first, second))
    if found.by_size:
        note = "The model has operators instead of layers: its arrays have no counterpart by name. `describe --weights` says what fits."
        return _Pairs([], [], list(found.ours), list(found.theirs), note)
    both, misfits = [], list[Misfit]()
    for layer, other in found.pairs.items():
        fitting, apart = one_layer(layer, found.ours[layer], found.theirs[other])
        shapes = Counter(one.shape for one in found.ours[layer])
        for a, b in fitting:
            known = a.name == b.name or shapes[a.shape] == 1
            theirs = b if known else replace(b, unreadable=_AMBIGUOUS)
            both.append((f"{layer}/{a.name}", True, *((theirs, a) if swapped else (a, theirs))))
        misfits += [Misfit(one.layer, one.weight, one.in_weights, one.in_model) if swapped else one for one in apart]
    missing = [layer for layer in found.ours if layer not in found.pairs]
    more = [layer for layer in found.theirs if layer not in set(found.pairs.values())]
    note = "Layers are matched in their order: their names differ." if found.how == "order" else ""
    return _Pairs(both, misfits, *((more, missing) if swapped else (missing, more)), note)


def _apart(name: str, is_weight: bool, a: StoredWeight, b: StoredWeight) -> ArrayDifference:
    import numpy as np

    why = a.unreadable or b.unreadable
    if why:
        return ArrayDifference(name, is_weight, a.shape, unreadable=why)
    squares, largest, changed = [0.0, 0.0, 0.0], 0.0, 0
    bad = [0, 0]
    for first, second in side_by_side(a.pieces, b.pieces):
        left, right = real(first).ravel(), real(second).ravel()
        changed += int(np.count_nonzero((left != right) & ~(np.isnan(left) & np.isnan(right))))
        finite = np.isfinite(left), np.isfinite(right)
        bad = [count + int(values.size - np.count_nonzero(values)) for count, values in zip(bad, finite, strict=True)]
        both = finite[0] & finite[1]
        left, right = left[both], right[both]
        apart = left - right
        squares = [total + float(one @ one) for total, one in zip(squares, (left, right, apart), strict=True)]
        largest = max(largest, float(np.abs(apart).max(initial=0.0)))
    norms = [total**0.5 for total in squares]
    relative = norms[2] / max(norms[:2]) if max(norms[:2]) else 0.0
    return ArrayDifference(
        name, is_weight, a.shape, norms[0], norms[1], norms[2], relative, largest, changed, bad[0], bad[1]
    )


def _verdict(told: list[ArrayDifference], found: _Pairs) -> Literal["equal", "within_tolerance", "different"]:
    """Of the weights; what an optimizer keeps does not count, and what cannot be read is not said to be equal."""
    weights = [one for one in told if one.is_weight]
    if found.misfits or found.only_a or found.only_b or not weights or any(one.unreadable for one in weights):
        return "different"
    if not any(one.changed for one in weights):
        return "equal"
    close = all(one.relative <= _CLOSE and one.nonfinite_a == one.nonfinite_b for one in weights)
    return "within_tolerance" if close else "different"


TASK = CompareWeights()
