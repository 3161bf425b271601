"""CRC-32C as TensorBoard's record format stores it (masked), of one content or of many records alike at once.

Source: RFC 3720 appendix B.4 (polynomial 0x1EDC6F41, reflected 0x82F63B78); tensorflow/core/lib/hash/crc32c.h (mask). Many at
once by linearity: the checksum of a content is that of as many zeros, changed by the share of each byte.
"""

from __future__ import annotations

import functools

import google_crc32c
import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Checksums = npt.NDArray[np.uint32]

_MASK = 0xA282EAD8
_ZERO_BYTE = google_crc32c.value(b"\x00")
_ENTRIES: Checksums = np.array([google_crc32c.value(bytes([byte])) ^ _ZERO_BYTE for byte in range(256)], np.uint32)
"""What each value of a byte does to the checksum it ends."""


def crc32c(content: bytes) -> int:
    """The checksum of `content`."""
    return int(google_crc32c.value(content))


def masked(content: bytes) -> int:
    """The checksum as it is stored beside the content."""
    crc: int = google_crc32c.value(content)
    return (((crc >> 15) | (crc << 17)) + _MASK) & 0xFFFFFFFF


def mask(crc: Checksums) -> Checksums:
    """Checksums as they are stored."""
    return ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(_MASK)


def share_of(following: int) -> Checksums:
    """What each of the 256 values of a byte adds to a checksum when `following` bytes come after it (shape (256,))."""
    known = _shares()
    while len(known) <= following:
        known.append(_after_one(known[-1]))
    return known[following]


@functools.cache
def _shares() -> list[Checksums]:
    return [_ENTRIES]


def _after_one(crc: Checksums) -> Checksums:
    return np.asarray((crc >> np.uint32(8)) ^ _ENTRIES[crc & np.uint32(0xFF)], np.uint32)


def checksums(content: bytes, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> Checksums:
    """The checksums of many parts of `content`; shapes (parts,)."""
    of, ends = google_crc32c.value, (starts + sizes).tolist()
    found = [of(content[begin:end]) for begin, end in zip(starts.tolist(), ends, strict=True)]
    return np.array(found, np.uint32)
