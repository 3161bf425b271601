"""CRC-32C as TensorBoard's record format stores it (masked).

Source: RFC 3720 appendix B.4 (polynomial 0x1EDC6F41, reflected 0x82F63B78); tensorflow/core/lib/hash/crc32c.h (mask).
"""

from __future__ import annotations

_POLYNOMIAL, _MASK = 0x82F63B78, 0xA282EAD8


def _entry(value: int) -> int:
    for _ in range(8):
        value = (value >> 1) ^ _POLYNOMIAL if value & 1 else value >> 1
    return value


_TABLE = tuple(_entry(value) for value in range(256))


def crc32c(content: bytes | memoryview) -> int:
    """The checksum of `content`."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def masked(content: bytes | memoryview) -> int:
    """The checksum as it is stored beside the content."""
    crc = crc32c(content)
    return (((crc >> 15) | (crc << 17)) + _MASK) & 0xFFFFFFFF
