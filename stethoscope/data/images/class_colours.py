"""Colours that stand for classes in masks: Pascal VOC's palette, and lists of colours beside the masks."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

VOC_CLASSES = (
    "background", "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable",
    "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
)  # fmt: skip
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
