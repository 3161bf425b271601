"""What the pixels of a mask stand for: class numbers, object or not, or colours of classes.

Colours that stand for classes in masks: Pascal VOC's palette, and lists of colours beside the masks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.data.dataset import Region
from stethoscope.data.images.image_decoding import decode_numbers
from stethoscope.data.images.image_opening import Opening

_MOST_COLOURS = 256
_FEW_COLOURS = 8
"""That any image may have; a photograph has more than one in four of its pixels."""
_MOST_REGIONS = 256
_NEAR = 16
"""Grey levels from black or white that lossy compression explains."""
_TWO_TONES = 0.98
"""Share of pixels that must be near black or white for a mask to be one of object or not."""


@dataclass(frozen=True)
class MaskMeaning:
    """How masks of one data set are read."""

    kind: Literal["numbers", "binary", "colours"]
    names: Mapping[int, str] = field(default_factory=dict)
    """Of classes by number; number 0 is background and not drawn."""
    order: npt.NDArray[np.int32] | None = None
    """The packed colour of each class number, where colours stand for classes."""
    in_words: str = ""
    """One sentence for people."""

    def numbers(self, mask: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], str]:
        """Class numbers of a decoded mask.

        Args:
            mask: (height, width), or (height, width, 3) of colours.

        Returns:
            (height, width) numbers, and a sentence about what could not be read ("" where all could).
        """
        if self.kind == "colours" and self.order is not None:
            colours = np.repeat(mask[:, :, None], 3, axis=2) if mask.ndim == 2 else mask
            found, unknown = numbered(colours.astype(np.uint8), self.order)
            return found, f"{unknown:,} pixels of its mask have a colour of no class." if unknown else ""
        if mask.ndim == 3:
            return np.full(
                mask.shape[:2], VOID, np.int64
            ), "Its mask is in colours, unlike the others, and is not read."
        if self.kind == "binary":
            return (mask > (127 if mask.max(initial=0) > 1 else 0)).astype(np.int64), ""
        return mask.astype(np.int64), ""

    def regions(self, numbers: npt.NDArray[np.int64]) -> Iterator[Region]:
        """One region for each class that occurs, background and void left out."""
        present = [int(number) for number in np.unique(numbers) if number != 0]
        for number in present[:_MOST_REGIONS]:
            if number == VOID and VOID not in self.names and self.kind != "binary":
                continue
            yield Region(self.name(number), numbers == number)

    def name(self, number: int) -> str:
        """What a class number is called."""
        return self.names.get(number) or ("object" if self.kind == "binary" else f"class {number}")


def few_masks(opening: Opening, names: Sequence[str], most: int) -> list[npt.NDArray[Any]]:
    """At most so many of these masks, decoded, spread evenly: for `meaning_of`."""
    few = []
    for name in names[:: max(1, len(names) // most)][:most]:
        with opening.noting("mask", name):
            few.append(decode_numbers(opening.members.read(name), name, opening.budget_bytes))
    return few


def meaning_of(
    masks: Sequence[npt.NDArray[Any]], names: Mapping[int, str], colours: Mapping[str, tuple[int, int, int]]
) -> MaskMeaning | None:
    """Judges from a few masks how all are to be read.

    Args:
        masks: decoded by `image_decoding.decode_numbers`.
        names: of classes by number, where a file lists them.
        colours: of classes by name, where a file lists them.

    Returns:
        The meaning; None where these are photographs rather than masks.
    """
    if any(mask.ndim == 3 for mask in masks):
        return _of_colours(masks, colours)
    if colours and {tuple(colour) for colour in colours.values()} <= {(grey, grey, grey) for grey in range(256)}:
        return _of_colours(masks, colours)
    present = sorted({int(value) for mask in masks for value in np.unique(mask)[:_MOST_COLOURS]})
    if not present:
        return None
    if set(present) <= {0, 255} or set(present) <= {0, 1}:
        return MaskMeaning("binary", names, None, "Masks tell object (white) from background (black).")
    if len(present) > 128 or masks[0].dtype == np.float32:
        near = [float(np.mean((mask <= _NEAR) | (mask >= 255 - _NEAR))) for mask in masks if mask.size]
        if near and min(near) >= _TWO_TONES and masks[0].dtype == np.uint8:
            return MaskMeaning(
                "binary", names, None, "Masks tell object from background; greys of compression are split at 128."
            )
        if masks[0].dtype == np.uint8:
            return None
    if VOID in present and VOID not in names:
        return MaskMeaning("numbers", names, None, "Each pixel of a mask holds its class number; 255 belongs to none.")
    return MaskMeaning("numbers", names, None, "Each pixel of a mask holds its class number.")


def _of_colours(masks: Sequence[npt.NDArray[Any]], colours: Mapping[str, tuple[int, int, int]]) -> MaskMeaning | None:
    if colours:
        order = packed(np.asarray(list(colours.values()), np.uint8))
        names = dict(enumerate(colours))
        return MaskMeaning("colours", names, order, "Colours of masks stand for classes, as the list of colours says.")
    present: set[int] = set()
    for mask in masks:
        wide = np.repeat(mask[:, :, None], 3, axis=2) if mask.ndim == 2 else mask
        present |= {int(colour) for colour in np.unique(packed(wide.astype(np.uint8)))[: _MOST_COLOURS + 1]}
        if len(present) > _MOST_COLOURS:
            return None
    if len(present) > max(_FEW_COLOURS, sum(mask.shape[0] * mask.shape[1] for mask in masks) // 4):
        return None
    palette = packed(voc_palette())
    border = int(packed(np.asarray([224, 224, 192], np.uint8)))
    known = set(palette[: len(VOC_CLASSES)].tolist())
    if present <= known | {border}:
        return MaskMeaning(
            "colours",
            dict(enumerate(VOC_CLASSES)),
            palette[:256],
            "Colours of masks are those of Pascal VOC's classes.",
        )
    listed = sorted(present - {0})
    order = np.asarray([0, *listed], np.int32)
    names = {number: f"#{colour:06x}" for number, colour in enumerate(listed, 1)}
    return MaskMeaning(
        "colours", names, order, "Colours of masks stand for classes; without a list they are called by their colour."
    )


VOC_CLASSES = (
    "background",
    "aeroplane",
    "bicycle",
    "bird",
    "boat",
    "bottle",
    "bus",
    "car",
    "cat",
    "chair",
    "cow",
    "diningtable",
    "dog",
    "horse",
    "motorbike",
    "person",
    "pottedplant",
    "sheep",
    "sofa",
    "train",
    "tvmonitor",
)
"""Source: http://host.robots.ox.ac.uk/pascal/VOC/voc2012/segexamples/index.html"""
VOID = 255
"""The class number of pixels that belong to no class: borders in VOC."""
_LIST_LINE = re.compile(r"^\s*([^#:\s][^:]*?)\s*:\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*(:.*)?$")


def voc_palette() -> npt.NDArray[np.uint8]:
    """(256, 3): the colour of each number, its bits dealt out to the three channels from the top.

    Source: VOClabelcolormap.m of the VOC development kit.
    """
    numbers = np.arange(256)
    colours = np.zeros((256, 3), np.uint8)
    for bit in range(8):
        for channel in range(3):
            colours[:, channel] |= (((numbers >> (3 * bit + channel)) & 1) << (7 - bit)).astype(np.uint8)
    return colours


def colour_list(text: str) -> dict[str, tuple[int, int, int]]:
    """Names and colours of a labelmap.txt ("cat:64,0,0::", as CVAT writes it), in order; {} for text of another kind."""
    found: dict[str, tuple[int, int, int]] = {}
    for line in text.splitlines():
        match = _LIST_LINE.match(line)
        if match:
            found[match[1]] = (int(match[2]), int(match[3]), int(match[4]))
    return found


def packed(colours: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
    """(…, 3) colours as one number each."""
    wide = colours.astype(np.int32)
    joined: npt.NDArray[np.int32] = (wide[..., 0] << 16) | (wide[..., 1] << 8) | wide[..., 2]
    return joined


def numbered(colours: npt.NDArray[np.uint8], order: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int64], int]:
    """Class numbers of a colour image.

    Args:
        colours: (height, width, 3).
        order: the packed colour of each class number.

    Returns:
        (height, width) numbers, `VOID` where the colour is not listed; and how many pixels those are.
    """
    flat = packed(colours)
    sorting = np.argsort(order, kind="stable")
    at = np.clip(np.searchsorted(order[sorting], flat), 0, len(order) - 1)
    known = order[sorting][at] == flat
    return np.where(known, sorting[at], VOID).astype(np.int64), int((~known).sum())
