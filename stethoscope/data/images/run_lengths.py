"""Masks as run lengths, as COCO writes them: counts of background and object pixels, down the columns.

Source: https://github.com/cocodataset/cocoapi/blob/master/common/maskApi.c (rleFrString, rleDecode).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stethoscope.data import bounds

if TYPE_CHECKING:
    import numpy.typing as npt


def from_string(packed: str) -> list[int]:
    """Counts from COCO's compressed text: 5 bits a character from "0", counts after the second as differences to the one two before.

    Raises:
        ValueError: it ends within a number, or has characters that cannot occur.
    """
    counts: list[int] = []
    value = shift = 0
    for character in packed:
        piece = ord(character) - 48
        if not 0 <= piece < 64:
            raise ValueError(f"the character {character!r} cannot occur")
        value |= (piece & 0x1F) << shift
        shift += 5
        if shift > 60:
            raise ValueError("a count has more digits than any image needs")
        if piece & 0x20:
            continue
        if piece & 0x10:
            value |= -1 << shift
        counts.append(value + counts[-2] if len(counts) > 2 else value)
        value = shift = 0
    if shift:
        raise ValueError("it ends within a number")
    return counts


def bits_of(segmentation: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
    """The mask of {"size": [height, width], "counts": list or text}.

    Returns:
        (height, width) bool.

    Raises:
        ValueError: size or counts are missing, make no sense, or do not fill the image.
    """
    size, counts = segmentation.get("size"), segmentation.get("counts")
    if not (isinstance(size, Sequence) and len(size) == 2 and all(isinstance(side, int) and side > 0 for side in size)):
        raise ValueError("expected a size of [height, width]")
    height, width = size
    if height * width > bounds.MAX_PIXELS:
        raise ValueError(f"declares {height:,} × {width:,} pixels, more than any image here may have")
    if isinstance(counts, str):
        runs = from_string(counts)
    elif isinstance(counts, list) and all(isinstance(count, int) and not isinstance(count, bool) for count in counts):
        runs = counts
    else:
        raise ValueError("expected counts as a list of whole numbers or as text")
    if any(run < 0 for run in runs) or sum(runs) != height * width:
        raise ValueError(f"its counts fill {sum(runs):,} of {height * width:,} pixels")
    lengths = np.asarray(runs, np.int64)
    flat = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)
    return flat.reshape(width, height).T
