"""What is marked on an image, as numbers a browser draws: outlines in the image's pixels, areas as one picture of indices.

Arrays as PNG files: what is shown of an image, a mask or a matrix, on a scale that all pictures of a page share.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stethoscope.codec import plain
from stethoscope.data.dataset import Box, Mark, Points, Polygon, Region
from stethoscope.data.view.shown import Marked, ShownBox, ShownPoints, ShownPolygon, ShownRegion

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


Bits = npt.NDArray[np.bool_]
MOST_AREAS = 2_000
"""Areas in one picture of indices."""
_BACKGROUND = frozenset({"", "background", "bg", "_background_", "__background__", "unlabeled", "unlabelled", "none"})
_VOID = 255
_KEPT = 0.25
"""A pixel of a smaller picture belongs to an area that covers at least this share of it: thin ones stay visible."""


class Drawn(NamedTuple):
    """Marks ready for a browser."""

    marks: tuple[Marked, ...]
    total: int
    """How many there are; `marks` may be fewer."""
    areas: Picture | None
    """Pixels whose red and green are the index + 1 (red + 256 × green) of the region among `marks`; black is none."""


def drawn(marks: Sequence[Mark], size: tuple[int, int], shown: tuple[int, int], most: int) -> Drawn:
    """Makes marks drawable on a picture.

    Args:
        marks: in pixels of the image as stored.
        size: (width, height) of the image as stored.
        shown: (width, height) of its picture.
        most: how many marks are kept; the largest areas are drawn first, so that small ones stay visible.
    """
    tolerance = 0.4 * max(size[0] / max(shown[0], 1), 1.0)
    kept: list[Marked] = []
    areas: list[tuple[int, Bits]] = []
    for mark in marks[:most]:
        if isinstance(mark, Region):
            if len(areas) == MOST_AREAS:
                continue
            areas.append((len(kept), mark.bits))
            kept.append(_region(mark, size))
        else:
            kept.append(_outline(mark, tolerance))
    return Drawn(tuple(kept), len(marks), _area_picture(areas, shown))


def regions_of(mask: npt.NDArray[Any], classes: Sequence[str]) -> list[Region]:
    """The classes of a mask as one region each; what is background stays bare.

    Args:
        mask: (height, width) or (height, width, 1) class numbers.
        classes: their names, in the order of the numbers.
    """
    flat = mask[..., 0] if mask.ndim == 3 and mask.shape[2] == 1 else mask
    if flat.ndim != 2 or flat.dtype.kind not in "biu":
        return []
    found = []
    for number in np.unique(flat)[:MOST_AREAS].astype(np.int64).tolist():
        named = classes[number] if 0 <= number < len(classes) else ""
        if number == 0 and named.strip().lower() in _BACKGROUND:
            continue
        found.append(Region(named or ("void" if number == _VOID else f"class {number}"), flat == number))
    return found


def extent(marks: Sequence[Mark]) -> tuple[int, int]:
    """(width, height) of the smallest canvas that holds all marks, for images that are not there."""
    right = bottom = 1.0
    for mark in marks:
        if isinstance(mark, Box):
            ends = [(mark.x + mark.width, mark.y + mark.height)]
        elif isinstance(mark, Region):
            ends = [(mark.bits.shape[1], mark.bits.shape[0])]
        else:
            ends = list(mark.points) if isinstance(mark, Points) else [point for ring in mark.rings for point in ring]
        for x, y in ends:
            right, bottom = max(right, x), max(bottom, y)
    return int(np.ceil(min(right, 1e5))), int(np.ceil(min(bottom, 1e5)))


def _outline(mark: Box | Polygon | Points, tolerance: float) -> Marked:
    if isinstance(mark, Box):
        return ShownBox(
            label=mark.label,
            details=plain(mark.details),
            x=_number(mark.x),
            y=_number(mark.y),
            width=_number(mark.width),
            height=_number(mark.height),
            angle_degrees=_number(mark.angle_degrees),
        )
    if isinstance(mark, Polygon):
        rings = tuple(_simpler(ring, tolerance) for ring in mark.rings)
        return ShownPolygon(label=mark.label, details=plain(mark.details), rings=rings)
    points = tuple((_number(x), _number(y)) for x, y in mark.points)
    return ShownPoints(label=mark.label, points=points, joined=mark.joined)


def _simpler(ring: Sequence[tuple[float, float]], tolerance: float) -> tuple[tuple[float, float], ...]:
    """A ring without the points that lie closer to the one before than anybody can see."""
    kept: list[tuple[float, float]] = []
    for place, (x, y) in enumerate(ring):
        if not kept or place == len(ring) - 1 or max(abs(x - kept[-1][0]), abs(y - kept[-1][1])) >= tolerance:
            kept.append((_number(x), _number(y)))
    return tuple(kept)


def _number(value: float) -> float:
    """Two digits after the point, and nothing that JSON cannot hold."""
    return round(float(value), 2) if np.isfinite(value) else 0.0


def _region(mark: Region, size: tuple[int, int]) -> ShownRegion:
    """The box around an area in pixels of the image, and how many pixels it has."""
    bits: Bits = mark.bits
    rows, columns = np.flatnonzero(bits.any(axis=1)), np.flatnonzero(bits.any(axis=0))
    if not rows.size:
        return ShownRegion(label=mark.label)
    across, down = size[0] / bits.shape[1], size[1] / bits.shape[0]
    return ShownRegion(
        label=mark.label,
        x=_number(columns[0] * across),
        y=_number(rows[0] * down),
        width=_number((columns[-1] + 1 - columns[0]) * across),
        height=_number((rows[-1] + 1 - rows[0]) * down),
        pixels=int(np.count_nonzero(bits)),
    )


def _area_picture(areas: Sequence[tuple[int, Bits]], shown: tuple[int, int]) -> Picture | None:
    from PIL import Image

    if not areas:
        return None
    width, height = shown
    index = np.zeros((height, width), np.uint16)
    # The largest first: what lies on top of it stays visible.
    for place, bits in sorted(areas, key=lambda one: -int(np.count_nonzero(one[1]))):
        index[_fitted(bits, width, height)] = place + 1
    pixels = np.stack([index & 0xFF, index >> 8, np.zeros_like(index)], axis=-1).astype(np.uint8)
    return Picture(as_png(Image.fromarray(pixels)), width, height)


def _fitted(bits: Bits, width: int, height: int) -> Bits:
    from PIL import Image

    if bits.shape == (height, width):
        return bits
    made = Image.fromarray(bits.astype(np.uint8) * 255)
    larger = bits.shape[0] < height or bits.shape[1] < width
    how = Image.Resampling.NEAREST if larger else Image.Resampling.BOX
    fitted: Bits = np.asarray(made.resize((width, height), how)) >= 255 * _KEPT
    return fitted
