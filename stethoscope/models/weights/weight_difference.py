"""How far the weights of two layers lie apart, both read in pieces side by side."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stethoscope.models.model_format import Pieces, StoredWeight
from stethoscope.models.weights.weight_statistics import Difference, difference

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST_TURNED = 32 << 20
"""Values of a tensor that is held whole, to compare it in another order of its axes."""


@dataclass(frozen=True)
class LayerDifference:
    """All tensors of two layers: the difference of those with a counterpart, and which have none (name, shape a, shape b)."""

    together: Difference | None
    unlike: tuple[tuple[str, tuple[int, ...] | None, tuple[int, ...] | None], ...]
    compared: int = 0


def weights_apart(first: Sequence[StoredWeight], second: Sequence[StoredWeight]) -> LayerDifference:
    """Pairs tensors by name and shape, then by shape, then by the same sizes in another order (a transposed kernel)."""
    spare = [weight for weight in second if not weight.unreadable]
    found: list[Difference] = []
    unlike: list[tuple[str, tuple[int, ...] | None, tuple[int, ...] | None]] = []
    for weight in first:
        if weight.unreadable:
            continue
        other = _partner(weight, spare)
        if other is None:
            unlike.append((weight.name, weight.shape, None))
            continue
        spare.remove(other)
        if _squeezed(other) == _squeezed(weight):
            found.append(difference(_side_by_side(weight.pieces, other.pieces)))
        elif weight.count <= _MOST_TURNED:
            found.append(_turned(weight, other))
        else:
            unlike.append((weight.name, weight.shape, other.shape))
    unlike += [(weight.name, None, weight.shape) for weight in spare]
    return LayerDifference(_together(found), tuple(unlike), len(found))


def _partner(weight: StoredWeight, spare: Sequence[StoredWeight]) -> StoredWeight | None:
    named = [other for other in spare if other.name == weight.name and other.shape == weight.shape]
    alike = [other for other in spare if other.shape == weight.shape]
    squeezed = [other for other in spare if _squeezed(other) == _squeezed(weight)]
    turned = [other for other in spare if sorted(_squeezed(other)) == sorted(_squeezed(weight))]
    return next(iter([*named, *alike, *squeezed, *turned]), None)


def _squeezed(weight: StoredWeight) -> tuple[int, ...]:
    return tuple(size for size in weight.shape if size != 1)


def _turned(weight: StoredWeight, other: StoredWeight) -> Difference:
    """Of the orders of axes that fit, the one that brings both nearest: formats order a kernel's axes differently."""
    import numpy as np

    left = np.concatenate([piece.ravel() for piece in weight.pieces()]).reshape(_squeezed(weight))
    right = np.concatenate([piece.ravel() for piece in other.pieces()]).reshape(_squeezed(other))
    orders = [
        order
        for order in itertools.permutations(range(right.ndim))
        if tuple(right.shape[axis] for axis in order) == left.shape
    ]
    return min(
        (difference([(left, right.transpose(order))]) for order in orders[:24]),
        key=lambda item: item.norm_of_difference,
    )


def _together(found: Sequence[Difference]) -> Difference | None:
    if not found:
        return None
    return Difference(
        math.hypot(*(item.norm_a for item in found)),
        math.hypot(*(item.norm_b for item in found)),
        math.hypot(*(item.norm_of_difference for item in found)),
    )


def _side_by_side(first: Pieces, second: Pieces) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """Pieces of both, cut to the same lengths."""
    left, right = iter(first()), iter(second())
    a, b = next(left, None), next(right, None)
    while a is not None and b is not None:
        size = min(a.size, b.size)
        if size:
            yield a[:size], b[:size]
        a = a[size:] if size < a.size else next(left, None)
        b = b[size:] if b.size > size else next(right, None)
