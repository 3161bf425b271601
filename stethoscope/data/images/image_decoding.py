"""Pictures from strangers: their size is read before their pixels, and what is decoded stays below a bound.

Pixels are given as stored: a camera's orientation tag is not applied, because annotations count stored pixels.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from stethoscope.data import dataset
from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.models.containers import damage

if TYPE_CHECKING:
    import numpy.typing as npt
    from PIL import Image

OTHER_SUFFIXES = (".heic", ".heif", ".svg", ".raw", ".nef", ".cr2", ".dng", ".exr", ".dcm", ".psd", ".jxl")
"""Of images that are named, and not decoded."""
_FORMATS = ("JPEG", "PNG", "BMP", "DIB", "GIF", "WEBP", "TIFF", "PPM", "JPEG2000", "AVIF", "TGA")
_ORIENTATION = 0x0112


@dataclass(frozen=True)
class Picture:
    """A decoded image."""

    pixels: npt.NDArray[Any]
    """(height, width, channels): uint8; uint16, int32 or float32 where the file is deeper (one channel then)."""
    remarks: tuple[str, ...] = ()
    """What a viewer should know, one sentence each: stored rotated, first of several frames, …"""


def size_of(stream: IO[bytes], where: str) -> tuple[int, int]:
    """(width, height) in pixels, from the file's first bytes.

    Raises:
        UnreadableFile: not an image, or damaged.
        TooLarge: it declares more than `bounds.MAX_PIXELS`.
    """
    with _opened(stream, where, dataset.MAX_PIXELS) as image:
        return image.size


def layout_of(stream: IO[bytes], where: str) -> tuple[tuple[int, int, int], str]:
    """((height, width, channels), dtype) that `decode` would give, without decoding; raises as `size_of`."""
    with _opened(stream, where, dataset.MAX_PIXELS) as image:
        channels, dtype = _layout(image)
        return (image.height, image.width, channels), dtype


def decode(payload: bytes, where: str, budget_bytes: int) -> Picture:
    """Decodes one image: grey as one channel, palettes as RGB, CMYK and others as RGB, transparency as a fourth channel.

    Args:
        payload: the whole file.
        where: its name, for error texts.
        budget_bytes: of memory.

    Raises:
        UnreadableFile: not an image, or damaged.
        TooLarge: it declares more than `bounds.MAX_PIXELS`, or than fits the budget.
    """
    with _opened(io.BytesIO(payload), where, min(dataset.MAX_PIXELS, max(1, budget_bytes // 16))) as image:
        remarks = _remarks(image)
        pixels = _pixels(image)
    return Picture(pixels if pixels.ndim == 3 else pixels[:, :, None], remarks)


def decode_numbers(payload: bytes, where: str, budget_bytes: int) -> npt.NDArray[Any]:
    """Decodes a mask as numbers: a palette's indices and grey values are kept, colours stay (height, width, 3).

    Returns:
        (height, width) of integers, or (height, width, 3) uint8. Raises as `decode`.
    """
    with _opened(io.BytesIO(payload), where, min(dataset.MAX_PIXELS, max(1, budget_bytes // 16))) as image:
        if image.mode == "P":
            return np.asarray(image)
        if image.mode in ("LA", "La"):
            return np.asarray(image.getchannel(0))
        if image.mode == "RGBA":
            # Masks drawn in an editor: what is transparent is background.
            array = np.asarray(image)
            colours: npt.NDArray[Any] = np.where(array[:, :, 3:] > 0, array[:, :, :3], 0).astype(np.uint8)
            return _grey_if_equal(colours)
        pixels = _pixels(image)
    return pixels if pixels.ndim == 2 else _grey_if_equal(pixels[:, :, :3])


def _grey_if_equal(colours: npt.NDArray[Any]) -> npt.NDArray[Any]:
    first = colours[:, :, 0]
    equal = bool((colours == first[:, :, None]).all())
    return first if equal else colours


@contextmanager
def _opened(stream: IO[bytes], where: str, most_pixels: int) -> Iterator[Image.Image]:
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Image.init()
            with Image.open(stream, formats=[kind for kind in _FORMATS if kind in Image.OPEN]) as image:
                if image.width * image.height > most_pixels:
                    raise TooLarge(
                        f"{where}: expected at most {most_pixels:,} pixels, got {image.width:,} × {image.height:,}. "
                        "Make it smaller."
                    )
                yield image
    except Image.DecompressionBombError as error:
        declared = re.search(r"\d+", str(error))
        got = f"{int(declared[0]):,}" if declared else "more"
        raise TooLarge(f"{where}: expected at most {most_pixels:,} pixels, got {got}. Make it smaller.") from error
    except UnidentifiedImageError as error:
        raise UnreadableFile(f"{where}: expected an image, got other content. Replace the file.") from error
    except damage.pillow() as error:
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise UnreadableFile(f"{where}: the image is damaged ({reason}). Replace the file.") from error


def _layout(image: Image.Image) -> tuple[int, str]:
    if image.mode.startswith("I;16"):
        return 1, "uint16"
    if image.mode in ("I", "F"):
        return 1, "int32" if image.mode == "I" else "float32"
    if image.mode in ("1", "L"):
        return 1, "uint8"
    return (4 if _transparent(image) else 3), "uint8"


def _transparent(image: Image.Image) -> bool:
    return image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or (image.mode == "P" and "transparency" in image.info)


def _pixels(image: Image.Image) -> npt.NDArray[Any]:
    if image.mode.startswith("I;16"):
        array: npt.NDArray[Any] = np.asarray(image)
        return array.astype(np.uint16, copy=False)
    if image.mode in ("L", "I", "F"):
        return np.asarray(image)
    if image.mode == "1":
        return np.asarray(image.convert("L"))
    return np.asarray(image.convert("RGBA" if _transparent(image) else "RGB"))


def _remarks(image: Image.Image) -> tuple[str, ...]:
    found = []
    frames = int(getattr(image, "n_frames", 1))
    if frames > 1 and image.format != "MPO":
        found.append(f"Holds {frames:,} frames; the first is shown.")
    orientation = image.getexif().get(_ORIENTATION, 1)
    if isinstance(orientation, int) and orientation in range(2, 9):
        found.append(
            f"Its orientation tag (EXIF {orientation}) asks viewers to turn it; shown as stored, because annotations and "
            "TensorFlow's decoders count stored pixels."
        )
    if image.mode == "CMYK":
        found.append("Stored as CMYK; shown as RGB.")
    return tuple(found)
