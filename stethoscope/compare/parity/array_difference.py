"""How far one array is from another, in the measures that people ask for; computed in parts, so that large arrays cost no copy.

In which order of axes one array is another: channels first or last, axes of length 1 more or less, flattened.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_AT_ONCE = 1 << 16
"""Values at a time: few enough to stay in the processor's cache."""


@dataclass(frozen=True)
class ArrayDifference:
    """How far a and b are apart, the same whichever comes first.

    Values that are no number in both count as equal; in one of them, as infinitely far.
    """

    elements: int
    max_abs: float
    mean_abs: float
    max_rel: float
    """The largest |a − b| as a share of the largest value of either."""
    nrmse: float
    """The root of the mean square of a − b, as a share of that of both: 2 at most, and 2 only where b is −a."""
    cosine: float | None
    """Of the angle between both as vectors; None where one of them is all zeros."""
    sqnr_db: float | None
    """Signal to noise: 20 log10 of 1 / nrmse; None for equal arrays."""
    scale: float
    """The largest |value| of either."""
    nonfinite: int
    """Places where just one of them is a number."""

    def to_json(self) -> dict[str, Any]:
        """JSON values by name; infinities as null."""
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in asdict(self).items()
        }


def finite_or_none(value: float) -> float | None:
    """A measure as answers hold it: None where it is no finite number."""
    return value if math.isfinite(value) else None


def largest_of(measures: Sequence[float | None]) -> float | None:
    """The largest of a measure of several arrays; None where one of them has no finite value."""
    known = [one for one in measures if one is not None]
    return max(known, default=0.0) if len(known) == len(measures) else None


def array_difference(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> ArrayDifference:
    """The differences of `a` and `b`, arrays of numbers of one shape.

    Raises:
        ValueError: the shapes are not the same.
    """
    if a.shape != b.shape:
        raise ValueError(f"shapes {a.shape} and {b.shape}")
    left, right = a.reshape(-1), b.reshape(-1)
    most = total = squares = square_a = square_b = product = scale = 0.0
    nonfinite = 0
    for start in range(0, left.size, _AT_ONCE):
        x = left[start : start + _AT_ONCE].astype(np.float64)
        y = right[start : start + _AT_ONCE].astype(np.float64)
        xx, yy = _dot(x, x), _dot(y, y)
        if not math.isfinite(xx + yy):
            good_x, good_y = np.isfinite(x), np.isfinite(y)
            same = (good_x & good_y) | (np.isnan(x) & np.isnan(y)) | (x == y)
            nonfinite += int((~same).sum())
            both = good_x & good_y
            x, y = x[both], y[both]
            xx, yy = _dot(x, x), _dot(y, y)
        if not x.size:
            continue
        product, square_a, square_b = product + _dot(x, y), square_a + xx, square_b + yy
        scale = max(scale, float(x.max()), -float(x.min()), float(y.max()), -float(y.min()))
        gap = np.subtract(x, y, out=y)
        np.abs(gap, out=gap)
        most, total, squares = max(most, float(gap.max())), total + float(gap.sum()), squares + _dot(gap, gap)
    count = max(1, left.size)
    power = (square_a + square_b) / 2
    nrmse = math.sqrt(squares / power) if power else 0.0
    if nonfinite:
        most = nrmse = math.inf
    return ArrayDifference(
        elements=left.size,
        max_abs=most,
        mean_abs=total / count if not nonfinite else math.inf,
        max_rel=most / scale if scale else 0.0,
        nrmse=nrmse,
        cosine=max(-1.0, min(1.0, product / math.sqrt(square_a * square_b))) if square_a and square_b else None,
        sqnr_db=-20 * math.log10(nrmse) if 0 < nrmse < math.inf else None,
        scale=scale,
        nonfinite=nonfinite,
    )


def _dot(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    """Of two short vectors. Without BLAS, whose threads take ten times as long to start as this takes."""
    return float(np.einsum("i,i->", a, b))


def top_agreement(a: npt.NDArray[Any], b: npt.NDArray[Any], k: int = 1) -> float | None:
    """The share of rows whose k largest entries in one are among the k largest in the other, ties included.

    None where there are no classes.
    """
    if not _of_classes(a, b) or k >= a.shape[-1]:
        return None
    if k == 1:
        return decided_agreement(a, b, _TIED)
    rows_a, rows_b = a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1])
    return float(np.mean(_among_largest(rows_a, rows_b, k) | _among_largest(rows_b, rows_a, k)))


_TIED = 1e-6
"""Classes whose values are nearer than this share of the root mean square are preferred to each other by rounding alone."""


def _of_classes(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    return a.shape == b.shape and a.ndim >= 2 and a.shape[-1] >= 2 and a.dtype.kind in "fiu" and a.size > 0


def _among_largest(rows: npt.NDArray[Any], others: npt.NDArray[Any], k: int) -> npt.NDArray[np.bool_]:
    """Of each row, whether its k largest entries are among the k largest of the other's."""
    top = np.argpartition(-rows, k - 1, axis=-1)[:, :k]
    least = -np.partition(-others, k - 1, axis=-1)[:, k - 1]
    # Entries that are as large as the k-th belong to the k largest too: rounded probabilities are often alike.
    among: npt.NDArray[np.bool_] = np.take_along_axis(others, top, axis=-1).min(axis=-1) >= least
    return among


def decided_agreement(a: npt.NDArray[Any], b: npt.NDArray[Any], margin: float) -> float | None:
    """As `top_agreement` with k = 1, but a row counts as agreeing where either hardly prefers its class to the one that the other names.

    Args:
        a: of one model.
        b: of the other.
        margin: what one may prefer its class by, as a share of its root mean square.
    """
    if not _of_classes(a, b):
        return None
    rows_a, rows_b = (one.reshape(-1, one.shape[-1]).astype(np.float64) for one in (a, b))
    return float(np.mean(_hardly_preferred(rows_a, rows_b, margin) | _hardly_preferred(rows_b, rows_a, margin)))


def _hardly_preferred(
    rows: npt.NDArray[np.float64], others: npt.NDArray[np.float64], margin: float
) -> npt.NDArray[np.bool_]:
    """Of each row, whether it prefers its class by no more than the margin to the one that the other names."""
    named = np.take_along_axis(rows, others.argmax(axis=-1)[:, None], axis=-1)[:, 0]
    hardly: npt.NDArray[np.bool_] = rows.max(axis=-1) - named <= margin * np.sqrt(np.mean(np.square(rows)))
    return hardly


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

    def back(self) -> Orientation:
        """How an array of the first model is turned so that it lies as that of the second."""
        return Orientation(tuple(sorted(range(len(self.order)), key=self.order.__getitem__)), self.reshaped)

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
    if not short_a or not short_b:  # a single number
        if a != b:
            yield Orientation(reshaped=True)
        return
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
