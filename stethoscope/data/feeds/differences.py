"""Comparing outputs: to the bit, to a tolerance, and where the largest difference is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.types import Feed


@dataclass(frozen=True)
class Difference:
    """The largest absolute difference between two arrays, with both values and where they stand.

    `beyond` says that it is more than the tolerance. Non-numeric arrays differ by 1 where they differ.
    """

    max_abs_diff: float
    values: tuple[Any, Any]
    index: tuple[int, ...]
    beyond: bool


def tolerance(dtype: np.dtype[Any], atol: float, *, half: bool = False) -> tuple[float, float, float]:
    """(absolute, relative to the value, relative to the array's largest value) for a dtype.

    Wider for half precision, also when `half` says that the values were computed in it; one step for narrow integers
    (quantised outputs); nothing but `atol` for wide ones (class numbers, counts).

    Source: unit roundoff 2^-11 for float16, 2^-8 for bfloat16, 2^-24 for float32. Summing n products in another order
    moves a result by some roundoffs of the largest summand, however small the result itself is (Higham, Accuracy and
    Stability of Numerical Algorithms, 3.1): 16 of them are allowed.
    """
    if dtype.kind in "iu":
        return (max(atol, 1.0) if dtype.itemsize <= 2 else atol), 0.0, 0.0
    if half or dtype.itemsize <= 2:
        return max(atol, 1e-3), 1e-2, 2.0**-7
    return atol, 1e-4, 2.0**-20


def same_bits(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> bool:
    """Whether two arrays agree in shape, dtype and every bit (a NaN equals itself)."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.dtype.kind == "O":
        return bool(np.array_equal(first, second))
    return np.ascontiguousarray(first).tobytes() == np.ascontiguousarray(second).tobytes()


def difference(
    first: npt.NDArray[Any], second: npt.NDArray[Any], atol: float, *, half: bool = False
) -> Difference | None:
    """Returns the largest difference, or None when the arrays are equal (NaN equals NaN)."""
    if first.shape != second.shape:
        return Difference(float("inf"), (list(first.shape), list(second.shape)), (), True)
    if first.size == 0 or same_bits(first, second):
        return None
    if first.dtype.kind not in "fiubc":
        differs = np.asarray(first != second)
        if not differs.any():
            return None
        place = tuple(int(part) for part in np.argwhere(differs)[0])
        return Difference(1.0, (_plain(first[place]), _plain(second[place])), place, True)
    wide = np.complex128 if first.dtype.kind == "c" else np.float64
    left, right = first.astype(wide), second.astype(wide)
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(left - right)
    unequal_nan = np.isnan(left) != np.isnan(right)
    gap = np.where(unequal_nan, np.inf, np.where(np.isnan(gap), 0.0, gap))
    gap = np.where((left == right) | (np.isnan(left) & np.isnan(right)), 0.0, gap)
    largest = float(gap.max())
    if largest == 0.0:
        return None
    place = tuple(int(part) for part in np.unravel_index(int(gap.argmax()), gap.shape))
    absolute, relative, of_largest = tolerance(first.dtype, atol, half=half)
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.nan_to_num(np.abs(left), posinf=0.0)
    allowed = absolute + relative * size + of_largest * float(size.max())
    return Difference(largest, (_plain(first[place]), _plain(second[place])), place, bool((gap > allowed).any()))


def worst(first: Feed, second: Feed, atol: float, *, half: bool = False) -> Difference | None:
    """The largest difference over all arrays of two feeds with the same names."""
    found = [difference(first[name], second[name], atol, half=half) for name in first if name in second]
    return larger(*found)


def larger(*gaps: Difference | None) -> Difference | None:
    """The one that matters most: beyond the tolerance before within it, then by size. None when there is none."""
    found = [gap for gap in gaps if gap is not None]
    return max(found, key=lambda gap: (gap.beyond, gap.max_abs_diff), default=None)


def first_layer(
    first: Mapping[str, npt.NDArray[Any]],
    second: Mapping[str, npt.NDArray[Any]],
    atol: float,
    *,
    bits: bool,
    half: bool = False,
) -> tuple[str, Difference] | None:
    """The first layer, in execution order, whose output differs; beyond the tolerance unless `bits`."""
    for path, array in first.items():
        if path not in second:
            continue
        gap = difference(array, second[path], atol, half=half)
        if gap is not None and (bits or gap.beyond):
            return path, gap
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")[:100]
    item = value.item() if hasattr(value, "item") else value
    return str(item) if isinstance(item, complex) else item
