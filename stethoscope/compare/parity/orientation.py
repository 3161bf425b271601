"""In which order of axes one array is another: channels first or last, axes of length 1 more or less, flattened."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.compare.parity.array_difference import array_difference

_MOST_AXES = 6
_BETTER = 0.1
"""Times the difference of a plainer order: less than that only where the order is right."""
_ENOUGH = 4_096
"""Values by which orders are told apart before all are compared."""


_LAYOUTS = {(0, 2, 3, 1): "channels first", (0, 3, 1, 2): "channels last", (0, 2, 1): "last two axes swapped"}
"""Orders that formats have; where sizes are alike, they come before others."""


@dataclass(frozen=True)
class Orientation:
    """How to turn an array of the second model so that it lies as that of the first."""

    order: tuple[int, ...] = ()
    """Of a transposition after axes of length 1 are gone; () for none."""
    reshaped: bool = False
    """Whether the shape is another afterwards (axes of length 1, flattened)."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing is turned."""
        return not self.order and not self.reshaped

    def said(self) -> str:
        """In words, "" where nothing is turned."""
        if self.order:
            return _LAYOUTS.get(self.order, f"axes {', '.join(map(str, self.order))}")
        return "another shape" if self.reshaped else ""

    def apply(self, b: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """The array as the first model has it, of the given shape."""
        if not self.order:
            return b.reshape(shape) if self.reshaped else b
        return _squeezed(b).transpose(self.order).reshape(shape)


def candidates(a: tuple[int, ...], b: tuple[int, ...]) -> Iterator[Orientation]:
    """Every orientation by which an array of shape `b` has the shape `a`, the plainest first. The first axis (rows) stays."""
    if a == b:
        yield Orientation()
    if int(np.prod(a, dtype=np.int64)) != int(np.prod(b, dtype=np.int64)):
        return
    short_a, short_b = _short(a), _short(b)
    if a != b and short_a == short_b:
        yield Orientation(reshaped=True)
    if len(short_b) <= _MOST_AXES and sorted(short_a) == sorted(short_b):
        rest = range(1, len(short_b))
        for full in sorted(
            ((0, *order) for order in itertools.permutations(rest)), key=lambda one: one not in _LAYOUTS
        ):
            if full != tuple(range(len(short_b))) and tuple(short_b[axis] for axis in full) == short_a:
                yield Orientation(full)
    if a != b and short_a != short_b and a[:1] == b[:1] and (len(short_a) <= 2 or len(short_b) <= 2):
        yield Orientation(reshaped=True)  # one of them is flattened


def orient(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> tuple[Orientation, npt.NDArray[Any]] | None:
    """The orientation that brings `b` nearest to `a`, and `b` so turned; None where no orientation has a's shape."""
    found = list(candidates(a.shape, b.shape))
    if not found:
        return None
    if len(found) == 1:
        return found[0], found[0].apply(b, a.shape)
    best, least = found[0], np.inf
    for one in found:
        turned = one.apply(b, a.shape)
        gap = array_difference(_some(a), _some(turned)).nrmse
        if gap < least * _BETTER or least == np.inf:  # of equals, the plainest
            best, least = one, gap
    return best, best.apply(b, a.shape)


def _some(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Evenly chosen values, by place."""
    step = max(1, array.size // _ENOUGH)
    if step == 1:
        return array.reshape(-1)
    places = np.unravel_index(np.arange(0, array.size, step | 1), array.shape)
    return array[places]


def _short(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Without axes of length 1 beyond the first."""
    return (*shape[:1], *(size for size in shape[1:] if size != 1))


def _squeezed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array.reshape(_short(array.shape))
