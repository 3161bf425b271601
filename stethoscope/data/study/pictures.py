"""Pictures as a whole: sizes, brightness, contrast, channels, and pictures that are the same or nearly so.

Masks as a whole: how many pixels and how many pictures each class has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.data.study.numbers import Numbers, NumberStudy

_SIDE = 9
_MOST_PIXELS = 40_000
MAX_SIZES = 400
NEAR_BITS = 2
"""Difference hashes of 64 bits that differ in so few belong to pictures that look alike."""
_LUMA = np.array([0.299, 0.587, 0.114])


@dataclass(frozen=True)
class PictureSize:
    """How many pictures have this size in pixels."""

    width: int
    height: int
    count: int


@dataclass(frozen=True)
class Pictures:
    """Sizes, brightness, channels, and which pictures look alike; rows are told by their places."""

    rows: int
    sizes: tuple[PictureSize, ...]
    """The commonest first, at most `MAX_SIZES` of"""
    distinct_sizes: int
    channels: Mapping[str, int]
    """Pictures by their number of channels."""
    dtypes: Mapping[str, int]
    brightness: Numbers
    """Mean of each picture, as a share of full scale."""
    contrast: Numbers
    """Standard deviation of each picture, as a share of full scale."""
    aspect: Numbers
    """Width over height."""
    by_channel: tuple[Numbers, ...]
    """Values of pixels."""
    darkest: tuple[int, ...]
    brightest: tuple[int, ...]
    one_coloured: tuple[int, ...]
    near_duplicates: tuple[tuple[int, ...], ...]
    """Groups that look alike, the largest first."""
    near_duplicate_rows: int
    """Pictures that repeat another."""
    study: Literal["picture"] = "picture"


def few_pixels(picture: npt.NDArray[Any]) -> tuple[tuple[int, int, int], npt.NDArray[np.float64]]:
    """Height, width and channels, and of a large picture every how-many-th pixel: (height, width, channels)."""
    table = picture[:, :, None] if picture.ndim == 2 else picture
    height, width, channels = table.shape
    step = max(1, int(np.sqrt(height * width / _MOST_PIXELS)))
    return (height, width, channels), table[::step, ::step].astype(np.float64)


def grey_of(table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """A picture (height, width, channels) in grey: the luma of red, green and blue, else the mean of the channels."""
    found: npt.NDArray[np.float64] = table[..., :3] @ _LUMA if table.shape[2] in (3, 4) else table.mean(axis=2)
    return found


class PictureStudy:
    """Statistics of decoded pictures, each (height, width) or (height, width, channels)."""

    def __init__(self) -> None:
        self._sizes: Counter[tuple[int, int]] = Counter()
        self._channels: Counter[int] = Counter()
        self._dtypes: Counter[str] = Counter()
        self._brightness, self._contrast, self._aspect = NumberStudy(), NumberStudy(), NumberStudy()
        self._by_channel: list[NumberStudy] = []
        self._hashes: list[int] = []
        self._places: list[int] = []
        self._extremes: list[tuple[float, int]] = []
        self._flat: list[int] = []
        self.rows = 0

    def add(self, place: int, picture: npt.NDArray[Any]) -> None:
        """One more picture; `place` is its row."""
        if picture.ndim not in (2, 3) or not picture.size:
            return
        (height, width, channels), few = few_pixels(picture)
        self.rows += 1
        self._sizes[(width, height)] += 1
        self._channels[channels] += 1
        self._dtypes[str(picture.dtype)] += 1
        grey = grey_of(few)
        full = _full_scale(picture)
        bright, spread = float(grey.mean()) / full, float(grey.std()) / full
        self._brightness.add(np.array([bright]))
        self._contrast.add(np.array([spread]))
        self._aspect.add(np.array([width / height]))
        while len(self._by_channel) < min(channels, 4):
            self._by_channel.append(NumberStudy())
        for study, values in zip(self._by_channel, np.moveaxis(few, 2, 0), strict=False):
            study.add(values[::2, ::2])
        self._extremes.append((bright, place))
        if spread == 0:
            self._flat.append(place)
        self._hashes.append(difference_hash(grey))
        self._places.append(place)

    def near_duplicates(self) -> list[list[int]]:
        """Groups of rows whose pictures look alike, largest first; one-coloured pictures are left out."""
        flat = set(self._flat)
        by_hash: dict[int, list[int]] = {}
        for code, place in zip(self._hashes, self._places, strict=True):
            if place not in flat:
                by_hash.setdefault(code, []).append(place)
        groups = _joined(by_hash)
        return sorted((sorted(group) for group in groups if len(group) > 1), key=lambda group: (-len(group), group))

    def result(self) -> Pictures:
        """What was found."""
        ordered = [place for _, place in sorted(self._extremes)]
        groups = self.near_duplicates()
        return Pictures(
            rows=self.rows,
            sizes=tuple(
                PictureSize(width, height, count) for (width, height), count in self._sizes.most_common(MAX_SIZES)
            ),
            distinct_sizes=len(self._sizes),
            channels={str(channels): count for channels, count in self._channels.items()},
            dtypes=dict(self._dtypes),
            brightness=self._brightness.result(),
            contrast=self._contrast.result(),
            aspect=self._aspect.result(),
            by_channel=tuple(study.result() for study in self._by_channel),
            darkest=tuple(ordered[:6]),
            brightest=tuple(ordered[::-1][:6]),
            one_coloured=tuple(self._flat[:60]),
            near_duplicates=tuple(tuple(group[:20]) for group in groups[:60]),
            near_duplicate_rows=sum(len(group) - 1 for group in groups),
        )


def area_means(grey: npt.NDArray[Any], down: int, across: int) -> npt.NDArray[np.float64]:
    """(down, across): the mean of each of so many areas of (height, width); of few pixels some count in several."""
    rows, columns = (
        np.linspace(0, size, count + 1).astype(int) for size, count in zip(grey.shape, (down, across), strict=True)
    )
    sums = np.zeros((grey.shape[0] + 1, grey.shape[1] + 1))
    sums[1:, 1:] = grey.cumsum(0).cumsum(1)
    top, left = rows[:-1], columns[:-1]
    bottom, right = np.maximum(rows[1:], top + 1), np.maximum(columns[1:], left + 1)
    area = (bottom - top)[:, None] * (right - left)[None, :]
    corners = [sums[np.ix_(one, other)] for one, other in ((bottom, right), (top, right), (bottom, left), (top, left))]
    means: npt.NDArray[np.float64] = (corners[0] - corners[1] - corners[2] + corners[3]) / area
    return means


def difference_hash(grey: npt.NDArray[Any]) -> int:
    """64 bits: whether each of 8 × 8 areas is brighter than its right neighbour.

    Args:
        grey: (height, width) float.

    Source: Krawetz, "Kind of like that" (dHash), 2013.
    """
    cells = area_means(grey, 8, _SIDE)
    bits = (cells[:, 1:] > cells[:, :-1] + 1e-9).ravel()
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


def _full_scale(picture: npt.NDArray[Any]) -> float:
    if picture.dtype.kind in "iu":
        return float(np.iinfo(picture.dtype).max)
    return 1.0 if picture.dtype.kind == "b" or float(np.nanmax(picture, initial=0)) <= 1.0 else 255.0


def _joined(by_hash: dict[int, list[int]]) -> list[list[int]]:
    """Groups of hashes within `NEAR_BITS`: found through the four 16-bit parts, one of which must be within half of it.

    With at most two bits apart, at least two of four parts are equal.
    """
    parent = {code: code for code in by_hash}

    def root(code: int) -> int:
        while parent[code] != code:
            parent[code] = parent[parent[code]]
            code = parent[code]
        return code

    for first, second in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)):
        buckets: dict[tuple[int, int], list[int]] = {}
        for code in by_hash:
            key = ((code >> 16 * first) & 0xFFFF, (code >> 16 * second) & 0xFFFF)
            buckets.setdefault(key, []).append(code)
        for codes in buckets.values():
            for one, other in _close(codes):
                parent[root(one)] = root(other)
    groups: dict[int, list[int]] = {}
    for code, places in by_hash.items():
        groups.setdefault(root(code), []).extend(places)
    return list(groups.values())


def _close(codes: list[int]) -> list[tuple[int, int]]:
    # Buckets of thousands are of pictures with large even areas, which the hash does not tell apart.
    few = codes[:300]
    return [
        (one, other)
        for place, one in enumerate(few)
        for other in few[place + 1 :]
        if (one ^ other).bit_count() <= NEAR_BITS
    ]


MAX_CLASSES = 1_000
SHOWN = 60
_STEP_PIXELS = 1 << 20


@dataclass(frozen=True)
class MaskClass:
    """A class number: its pixels, and the masks it is in."""

    value: int
    count: int
    rows: int


@dataclass(frozen=True)
class Masks:
    """How many pixels and pictures each class has."""

    rows: int
    pixels: int
    distinct: int | None
    """None where there are too many to tell."""
    values: tuple[MaskClass, ...]
    """The one with most pixels first."""
    others: int
    """Pixels of none of `values`."""
    study: Literal["mask"] = "mask"


class MaskStudy:
    """Class numbers of pixels; beyond `MAX_CLASSES` different ones, new ones are only counted together."""

    def __init__(self) -> None:
        self._pixels: Counter[int] = Counter()
        self._rows_of: Counter[int] = Counter()
        self._others = 0
        self._rows = 0

    def add(self, mask: npt.NDArray[Any]) -> None:
        """One mask of whole numbers (height, width); of a very large one every nth row of pixels counts."""
        if mask.dtype.kind not in "biu" or not mask.size:
            return
        self._rows += 1
        step = max(1, -(-mask.size // (16 * _STEP_PIXELS)))
        values, counts = np.unique(mask[::step], return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            if int(value) in self._pixels or len(self._pixels) < MAX_CLASSES:
                self._pixels[int(value)] += count * step
                self._rows_of[int(value)] += 1
            else:
                self._others += count * step

    def result(self) -> Masks:
        """What was counted."""
        shown = self._pixels.most_common(SHOWN)
        total = sum(self._pixels.values()) + self._others
        return Masks(
            rows=self._rows,
            pixels=total,
            distinct=len(self._pixels) if not self._others else None,
            values=tuple(MaskClass(value, count, self._rows_of[value]) for value, count in shown),
            others=total - sum(count for _, count in shown),
        )
