"""Images as a browser may get them: decoded within bounds and written anew, whatever bytes the log held."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, NamedTuple

from stethoscope.models.containers import damage

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 32_000_000
"""Of an image that is decoded."""
LARGEST, SMALLEST = 1_024, 192
"""Pixels of the longer side of what is written: larger images are made smaller, smaller ones get whole multiples of it."""
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP")
_DEEP = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")


class Drawn(NamedTuple):
    """A PNG file, and the size of the image it was made from in pixels."""

    png: bytes
    width: int
    height: int


def drawn(content: bytes) -> Drawn | None:
    """The image in a file of a common format, its first picture where it moves; None where it is damaged or too large."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
            width, height = image.size
            if not 0 < width * height <= MAX_PIXELS:
                return None
            image.load()
            shown = _scaled(_plain(image))
    except damage.pillow():
        return None
    out = io.BytesIO()
    shown.save(out, "PNG", compress_level=3)
    return Drawn(out.getvalue(), width, height)


def _plain(image: Image.Image) -> Image.Image:
    """In eight bits a channel, grey or coloured, transparent or not."""
    import numpy as np
    from PIL import Image

    if image.mode in _DEEP:
        depth = np.asarray(image, np.float64)
        finite = np.where(np.isfinite(depth), depth, 0.0)
        most = 65_535.0 if image.mode != "F" and finite.max(initial=0) > 255 else 255.0
        return Image.fromarray(np.clip(finite * (255 / most), 0, 255).astype(np.uint8))
    if image.mode in ("L", "LA", "RGB", "RGBA"):
        return image.copy()
    return image.convert("RGBA" if image.mode == "PA" or "transparency" in image.info else "RGB")


def _scaled(image: Image.Image) -> Image.Image:
    from PIL import Image

    longer = max(image.size)
    if longer > LARGEST:
        image.thumbnail((LARGEST, LARGEST), Image.Resampling.LANCZOS)
        return image
    times = -(-SMALLEST // longer)
    return image.resize((image.width * times, image.height * times), Image.Resampling.NEAREST) if times > 1 else image
