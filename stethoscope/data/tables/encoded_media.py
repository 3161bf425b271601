"""Images that are kept as encoded bytes inside a row of a table or record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.dataset import FieldKind
from stethoscope.data.images.image_decoding import decode
from stethoscope.errors import StethoscopeError

_IMAGE_MAGIC = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM", b"II*\x00", b"MM\x00*", b"\x00\x00\x00\x0cjP  ")
_WAV_MAGIC = b"RIFF"


def is_encoded_image(payload: bytes) -> bool:
    """Whether bytes begin like an image file."""
    return payload.startswith(_IMAGE_MAGIC) or (payload[:4] == b"RIFF" and payload[8:12] == b"WEBP")


def is_encoded_wav(payload: bytes) -> bool:
    """Whether bytes begin like a WAV file."""
    return payload[:4] == _WAV_MAGIC and payload[8:12] == b"WAVE"


def kind_of_bytes(payloads: Sequence[bytes]) -> FieldKind:
    """What a column of bytes holds, by its first rows: images, sound, text, or numbers as they are."""
    given = [payload for payload in payloads if payload]
    if given and all(is_encoded_image(payload) for payload in given):
        return "image"
    if given and all(is_encoded_wav(payload) for payload in given):
        return "audio"
    return "text" if all(_is_text(payload) for payload in given) else "array"


def value_of(
    payload: bytes | None, kind: FieldKind, where: str, budget_bytes: int
) -> tuple[npt.NDArray[Any] | None, str]:
    """One row's bytes as an array, and what is wrong with it ("" when nothing is)."""
    if payload is None:
        return None, ""
    try:
        if kind == "image":
            return decode(payload, where, budget_bytes).pixels, ""
        if kind == "audio":
            from stethoscope.data.streams.wav_sound import read_wav

            return read_wav(payload, where).samples, ""
    except StethoscopeError as error:
        return None, str(error)
    if kind in ("text", "category"):
        return np.array(payload.decode("utf-8", "replace")), ""
    return np.frombuffer(payload, np.uint8), ""


def _is_text(payload: bytes) -> bool:
    try:
        text = payload[:4096].decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(payload[:4096]) - 4:
            return False
        text = payload[: error.start].decode("utf-8")
    return not any(ord(character) < 9 for character in text)
