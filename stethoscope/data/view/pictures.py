"""Arrays as PNG files: what is shown of an image, a mask or a matrix, on a scale that all pictures of a page share."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
LARGEST = 1_600
"""Pixels of the longer side of the largest picture."""
_FEW_LEVELS = 32
"""Whole numbers that never exceed this are levels of their own (digits of 0 to 16), not dark photographs."""
_THINNED = 4


class Picture(NamedTuple):
    """A PNG file, and its size in pixels."""

    png: bytes
    width: int
    height: int


@dataclass(frozen=True)
class Scale:
    """Which value is drawn black and which white."""

    low: float = 0.0
    high: float = 255.0
    broken: int = 0
    """Values that are NaN or infinite; drawn as the low end."""

    @classmethod
    def of(cls, arrays: Iterable[Array]) -> Scale:
        """The scale that suits all of these arrays: 0 … 255, 0 … 1 or −1 … 1 where they keep to it, else from end to end."""
        low, high, broken, plain = np.inf, -np.inf, 0, True
        for array in arrays:
            if array.dtype.kind not in "biuf" or not array.size:
                continue
            plain &= array.dtype == np.uint8
            values = array[np.isfinite(array)] if array.dtype.kind == "f" else array
            broken += array.size - values.size
            if values.size:
                low, high = min(low, float(values.min())), max(high, float(values.max()))
        if low > high:
            return cls(broken=broken)
        return cls(*_ends(low, high, plain), broken)

    @property
    def usual(self) -> bool:
        """Whether black and white mean what they mean in every picture."""
        return (self.low, self.high) in ((0.0, 255.0), (0.0, 1.0)) and not self.broken


def picture(array: Array, longest_px: int, scale: Scale) -> Picture:
    """Draws an array, made smaller to `longest_px` where it is larger; smaller ones keep their pixels.

    Args:
        array: (height, width) or (height, width, channels) of numbers. Of other than 1, 3 or 4 channels the first one or
            three are drawn.
        longest_px: of the longer side, at most `LARGEST`.
        scale: which value is black and which white.
    """
    from PIL import Image

    longest = max(1, min(longest_px, LARGEST))
    image = Image.fromarray(_bytes(_thinned(_drawable(array), longest), scale))
    if max(image.size) > longest:
        image.thumbnail((longest, longest), Image.Resampling.BOX if min(image.size) < 4 else Image.Resampling.LANCZOS)
    return Picture(as_png(image), image.width, image.height)


def full_picture(array: Array, scale: Scale) -> Picture:
    """Draws an array with all of its pixels; see `picture`."""
    from PIL import Image

    image = Image.fromarray(_bytes(_drawable(array), scale))
    return Picture(as_png(image), image.width, image.height)


def as_png(image: Any) -> bytes:
    """The PNG file of a Pillow image: nothing of what the original file said besides its pixels."""
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=3)
    return out.getvalue()


def is_drawable(array: Array) -> bool:
    """Whether an array can be drawn as a picture: numbers in two dimensions, or three of which the last are channels."""
    return array.dtype.kind in "biuf" and array.ndim in (2, 3) and array.size > 0


def channels_last(array: Array) -> Array:
    """An image whose few channels come first with its channels last; others as they are."""
    if array.ndim == 3 and array.shape[0] in (1, 3, 4) and array.shape[2] not in (1, 3, 4):
        return np.moveaxis(array, 0, -1)
    return array


def drawn_channels(array: Array) -> int:
    """How many of an image's channels are drawn."""
    if array.ndim < 3:
        return 1
    return {1: 1, 2: 1, 3: 3, 4: 4}.get(array.shape[2], 3)


def _ends(low: float, high: float, plain: bool) -> tuple[float, float]:
    if plain:
        return 0.0, 255.0 if high > _FEW_LEVELS or high == 0 else high
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    if low >= -1 and high <= 1:
        return -1.0, 1.0
    if low >= 0 and high <= 255:
        return 0.0, 255.0 if high > _FEW_LEVELS else high
    return low, high if high > low else low + 1.0


def _drawable(array: Array) -> Array:
    if array.ndim == 3:
        kept = drawn_channels(array)
        array = array[..., :kept]
        return array[..., 0] if kept == 1 else array
    return array


def _thinned(array: Array, longest: int) -> Array:
    """Every second, third … pixel of what is many times larger than it will be shown."""
    step = max(array.shape[:2]) // (_THINNED * longest)
    return array[::step, ::step] if step > 1 and array.dtype != np.uint8 else array


def _bytes(array: Array, scale: Scale) -> npt.NDArray[np.uint8]:
    if array.dtype == np.uint8 and (scale.low, scale.high) == (0.0, 255.0):
        return np.ascontiguousarray(array)
    exact = np.float32 if array.dtype.itemsize <= 4 else np.float64
    values = np.nan_to_num(array.astype(exact), nan=scale.low, posinf=scale.high, neginf=scale.low)
    alpha = values[..., 3:] if values.ndim == 3 and values.shape[2] == 4 else None
    # Halves: the difference of the largest and the smallest number is none.
    span = scale.high / 2 - scale.low / 2
    # A picture of a single value is black.
    shown = (np.clip(values, scale.low, scale.high) / 2 - scale.low / 2) / (span or 1.0) * 255
    if alpha is not None:
        shown[..., 3:] = np.clip(alpha * (1.0 if scale.high > 1 else 255.0), 0, 255)
    return np.ascontiguousarray(np.rint(shown).astype(np.uint8))
