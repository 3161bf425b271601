"""FlatBuffers read in place: every offset and length is checked against the file before it is used.

Source: https://flatbuffers.dev/internals/
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from stethoscope.models.containers import damage

_FORMATS = {code: struct.Struct(f"<{code}") for code in "bBhHiIqQf?"}


class Malformed(ValueError):
    """An offset, length or table that does not lie inside the buffer."""


class Buffer:
    """The bytes of a flatbuffer, and how many of them were handed out.

    Tables may be shared, so a small file can describe an endless amount of reading; `spend` bounds it.
    """

    def __init__(self, view: memoryview) -> None:
        self.view = view
        self.size = len(view)
        self._left = damage.MAX_GRAPH_BYTES

    def unpack(self, code: str, position: int) -> int:
        """Returns the little-endian scalar of struct format `code` at `position`.

        Raises:
            Malformed: it does not lie inside the buffer.
        """
        packer = _FORMATS[code]
        if position < 0 or position + packer.size > self.size:
            raise Malformed(f"offset {position:,} lies outside the file")
        value: int = packer.unpack_from(self.view, position)[0]
        return value

    def follow(self, position: int) -> int:
        """Returns where the forward offset stored at `position` points to.

        Raises:
            Malformed: it points outside the buffer.
        """
        offset = self.unpack("I", position)
        if offset == 0 or position + offset + 4 > self.size:
            raise Malformed(f"offset at byte {position:,} points outside the file")
        return position + offset

    def spend(self, count: int) -> None:
        """Counts bytes handed out.

        Raises:
            Malformed: more than any honest model has been read.
        """
        self._left -= count
        if self._left < 0:
            raise Malformed("its tables refer to each other over and over")

    def root(self) -> Table:
        """Returns the root table.

        Raises:
            Malformed: the root offset points outside the buffer.
        """
        return Table(self, self.follow(0))


class Table:
    """One table: fields are read by slot number (0 is the first field of the schema)."""

    def __init__(self, buffer: Buffer, position: int) -> None:
        self.buffer = buffer
        self.position = position
        self._vtable = position - buffer.unpack("i", position)
        self._vtable_size = buffer.unpack("H", self._vtable)
        inline = buffer.unpack("H", self._vtable + 2)
        if self._vtable_size < 4 or self._vtable + self._vtable_size > buffer.size or position + inline > buffer.size:
            raise Malformed(f"the table at byte {position:,} is damaged")
        buffer.spend(16)

    def at(self, slot: int) -> int:
        """Returns where field `slot` is stored, or 0 when the table does not have it."""
        entry = 4 + 2 * slot
        if entry + 2 > self._vtable_size:
            return 0
        offset = self.buffer.unpack("H", self._vtable + entry)
        return self.position + offset if offset else 0

    def scalar(self, slot: int, code: str, default: int = 0) -> int:
        """Returns a number, or `default` when the field is absent."""
        place = self.at(slot)
        return self.buffer.unpack(code, place) if place else default

    def table(self, slot: int) -> Table | None:
        """Returns a nested table, or None when the field is absent."""
        place = self.at(slot)
        return Table(self.buffer, self.buffer.follow(place)) if place else None

    def vector(self, slot: int, item_bytes: int) -> tuple[int, int]:
        """Returns (position of the first item, number of items); (0, 0) when the field is absent.

        Raises:
            Malformed: it runs past the end of the buffer.
        """
        place = self.at(slot)
        if not place:
            return 0, 0
        start = self.buffer.follow(place)
        count = self.buffer.unpack("I", start)
        if start + 4 + count * item_bytes > self.buffer.size:
            raise Malformed(f"a list of {count:,} items at byte {start:,} runs past the end of the file")
        return start + 4, count

    def tables(self, slot: int) -> Iterator[Table]:
        """Yields the tables of a vector of tables."""
        start, count = self.vector(slot, 4)
        for index in range(count):
            yield Table(self.buffer, self.buffer.follow(start + 4 * index))

    def numbers(self, slot: int, code: str) -> tuple[int, ...]:
        """Returns a vector of scalars; () when the field is absent."""
        item_bytes = _FORMATS[code].size
        start, count = self.vector(slot, item_bytes)
        self.buffer.spend(count * item_bytes)
        return struct.unpack_from(f"<{count}{code}", self.buffer.view, start) if count else ()

    def text(self, slot: int) -> str:
        """Returns a string; "" when the field is absent. Bytes that are not UTF-8 are replaced."""
        start, count = self.vector(slot, 1)
        self.buffer.spend(count)
        return bytes(self.buffer.view[start : start + count]).decode("utf-8", "replace")
