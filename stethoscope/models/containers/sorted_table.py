"""LevelDB tables, within bounds: keys in order, in blocks that are plain or compressed with snappy. TensorFlow's checkpoints are such.

Source: https://github.com/google/leveldb/blob/main/doc/table_format.md,
https://github.com/google/snappy/blob/main/format_description.txt
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterator

from stethoscope.models.containers import damage, wire

MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
"""The last bytes of a table."""
_FOOTER_BYTES = 48
_TRAILER_BYTES = 5


class Damaged(ValueError):
    """Truncated, or not a table."""


class Table:
    """The blocks of a table, each read when it is asked for."""

    def __init__(self, view: memoryview, most_bytes: int = damage.MAX_CONFIG_BYTES) -> None:
        """Reads where the blocks lie.

        Args:
            view: the whole file.
            most_bytes: what one compressed block may hold.

        Raises:
            Damaged: its end is missing or malformed.
        """
        if len(view) < _FOOTER_BYTES or view[-8:] != MAGIC:
            raise Damaged("its last bytes are not those of a checkpoint index")
        self._view, self._most = view, most_bytes
        self._last_keys: list[bytes] = []
        self._handles: list[tuple[int, int]] = []
        try:
            position = len(view) - _FOOTER_BYTES
            for _ in range(2):
                _, position = wire.varint(view, position, len(view))
            offset, position = wire.varint(view, position, len(view))
            size, _ = wire.varint(view, position, len(view))
            for key, handle in self._block(offset, size):
                start, after = wire.varint(handle, 0, len(handle))
                length, _ = wire.varint(handle, after, len(handle))
                self._last_keys.append(key)
                self._handles.append((start, length))
        except wire.Malformed as error:
            raise Damaged(str(error)) from error

    def items(self) -> Iterator[tuple[bytes, memoryview]]:
        """Yields every (key, value), in order.

        Raises:
            Damaged: a block is cut, malformed, or compressed in a way that is not known.
        """
        for handle in self._handles:
            yield from self._readable(*handle)

    def get(self, key: bytes) -> memoryview | None:
        """The value of a key; reads one block.

        Raises:
            Damaged: as `items`.
        """
        place = bisect.bisect_left(self._last_keys, key)
        if place == len(self._handles):
            return None
        return next((value for name, value in self._readable(*self._handles[place]) if name == key), None)

    def _readable(self, offset: int, size: int) -> Iterator[tuple[bytes, memoryview]]:
        try:
            yield from self._block(offset, size)
        except wire.Malformed as error:
            raise Damaged(str(error)) from error

    def _block(self, offset: int, size: int) -> Iterator[tuple[bytes, memoryview]]:
        """Yields (key, value) of one table block; keys share prefixes with their predecessor."""
        view = self._view
        end = offset + size
        if end + _TRAILER_BYTES > len(view):
            raise Damaged("a block lies beyond its end")
        if view[end] == 1:
            view = memoryview(_snappy(view[offset:end], self._most))
            offset, size, end = 0, len(view), len(view)
        elif view[end] != 0:
            raise Damaged("its blocks are compressed in an unknown way")
        if size < 4:
            raise Damaged("a block is too short")
        restarts = int.from_bytes(view[end - 4 : end], "little")
        stop = end - 4 - 4 * restarts
        if stop < offset:
            raise Damaged("a block's restart table is larger than the block")
        key, position = b"", offset
        while position < stop:
            shared, position = wire.varint(view, position, stop)
            unshared, position = wire.varint(view, position, stop)
            length, position = wire.varint(view, position, stop)
            if shared > len(key) or position + unshared + length > stop:
                raise Damaged("an entry runs past its block")
            key = key[:shared] + bytes(view[position : position + unshared])
            position += unshared
            yield key, view[position : position + length]
            position += length


def _snappy(view: memoryview, most_bytes: int) -> bytes:
    """Decompresses one block."""
    size, position = wire.varint(view, 0, len(view))
    if size > most_bytes:
        raise Damaged(f"a block declares {size:,} bytes")
    out = bytearray()
    while position < len(view):
        tag = view[position]
        kind, high = tag & 3, tag >> 2
        position += 1
        extra = max(0, high - 59) if kind == 0 else (0, 1, 2, 4)[kind]
        if position + extra > len(view):
            raise Damaged("a compressed block is cut short")
        number = int.from_bytes(view[position : position + extra], "little")
        position += extra
        if kind == 0:
            length = (number if extra else high) + 1
            if position + length > len(view):
                raise Damaged("a compressed block is cut short")
            out += view[position : position + length]
            position += length
        else:
            length = (high & 7) + 4 if kind == 1 else high + 1
            offset = number | (high >> 3) << 8 if kind == 1 else number
            if not 0 < offset <= len(out):
                raise Damaged("a compressed block refers to before its start")
            start = len(out) - offset
            pattern = out[start : start + length]
            out += (pattern * (length // len(pattern) + 1))[:length]
        if len(out) > size:
            break
    if len(out) != size:
        raise Damaged(f"a compressed block holds {len(out):,} of {size:,} bytes")
    return bytes(out)
