"""WAV files as numbers: whole, bounded, any width of integers and floats.

Source: Multimedia Programming Interface and Data Specifications 1.0 (RIFF); Microsoft WAVEFORMATEXTENSIBLE.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import dataset
from stethoscope.errors import TooLarge, UnreadableFile

_PCM, _FLOAT, _ALAW, _MULAW, _EXTENSIBLE = 1, 3, 6, 7, 0xFFFE
_MAX_RATE_HZ, _MAX_CHANNELS = 1_000_000, 64


@dataclass(frozen=True)
class Format:
    """What a WAV file says about its samples."""

    code: int
    channels: int
    rate_hz: int
    bits: int

    @property
    def frame_bytes(self) -> int:
        """Bytes of all channels at one moment."""
        return self.channels * ((self.bits + 7) // 8)


@dataclass(frozen=True)
class Sound:
    """A recording."""

    samples: npt.NDArray[np.float32]
    """(time,) of one channel, else (time, channels); from -1 to 1."""
    rate_hz: int
    remark: str = ""
    """What is wrong with the file, where it could be read all the same."""


def read_format(head: bytes, where: str) -> tuple[Format, int, int]:
    """Reads (format, where the samples begin, bytes they declare) off a file's first bytes.

    Raises:
        UnreadableFile: not a WAV file, damaged, or of an encoding that is not plain numbers.
    """
    if head[:4] not in (b"RIFF", b"RF64") or head[8:12] != b"WAVE":
        raise UnreadableFile(f"{where}: expected a WAV file, got other content. Convert it to WAV (PCM).")
    position, form = 12, None
    while position + 8 <= len(head):
        name, size = head[position : position + 4], struct.unpack("<I", head[position + 4 : position + 8])[0]
        if name == b"fmt ":
            form = _format(head[position + 8 : position + 8 + size], where)
        if name == b"data":
            if form is None:
                break
            return form, position + 8, size
        position += 8 + size + size % 2
    raise UnreadableFile(f"{where}: the WAV file has no {'samples' if form else 'format'}. Save it again.")


def read_wav(payload: bytes, where: str) -> Sound:
    """Decodes a WAV file.

    Raises:
        UnreadableFile: as `read_format`.
        TooLarge: it lasts longer than `bounds.MAX_SOUND_S`.
    """
    form, begin, declared = read_format(payload, where)
    data = payload[begin : begin + declared]
    remark = f"Declares {declared:,} bytes of sound, the file holds {len(data):,}." if len(data) < declared else ""
    frames = len(data) // form.frame_bytes
    if frames / form.rate_hz > dataset.MAX_SOUND_S:
        raise TooLarge(
            f"{where}: lasts {frames / form.rate_hz:,.0f} s, expected at most {dataset.MAX_SOUND_S:,.0f} s. Cut it."
        )
    samples = _numbers(data[: frames * form.frame_bytes], form)
    shaped = samples.reshape(frames, form.channels)
    return Sound(shaped[:, 0].copy() if form.channels == 1 else shaped, form.rate_hz, remark)


def _format(chunk: bytes, where: str) -> Format:
    if len(chunk) < 16:
        raise UnreadableFile(f"{where}: the WAV header is damaged. Save it again.")
    code, channels, rate, _, _, bits = struct.unpack("<HHIIHH", chunk[:16])
    if code == _EXTENSIBLE and len(chunk) >= 26:
        code = struct.unpack("<H", chunk[24:26])[0]
    known = {_PCM: (8, 16, 24, 32), _FLOAT: (32, 64)}.get(code)
    if known is None:
        name = {_ALAW: "A-law", _MULAW: "µ-law", 2: "ADPCM", 85: "MP3"}.get(code, f"code {code}")
        raise UnreadableFile(f"{where}: expected plain samples (PCM or float), got {name}. Convert it to PCM.")
    if bits not in known or not 1 <= channels <= _MAX_CHANNELS or not 1 <= rate <= _MAX_RATE_HZ:
        raise UnreadableFile(
            f"{where}: expected {' or '.join(map(str, known))} bits, 1 to {_MAX_CHANNELS} channels and a rate, "
            f"got {bits} bits, {channels} channels, {rate} Hz. Save it again."
        )
    return Format(code, channels, rate, bits)


def _numbers(data: bytes, form: Format) -> npt.NDArray[np.float32]:
    raw: npt.NDArray[Any]
    if form.code == _FLOAT:
        raw = np.frombuffer(data, f"<f{form.bits // 8}")
        return np.asarray(raw, np.float32)
    if form.bits == 8:
        return ((np.frombuffer(data, np.uint8).astype(np.float32) - 128) / 128).astype(np.float32)
    if form.bits == 24:
        parts = np.frombuffer(data, np.uint8).reshape(-1, 3).astype(np.int32)
        raw = (parts[:, 0] << 8 | parts[:, 1] << 16 | parts[:, 2] << 24) >> 8
        return np.asarray(raw / 2**23, np.float32)
    raw = np.frombuffer(data, f"<i{form.bits // 8}")
    scaled: npt.NDArray[np.float32] = (raw / 2 ** (form.bits - 1)).astype(np.float32)
    return scaled
