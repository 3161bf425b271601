"""The records of a TFRecord file, found one after another and read by their number; also compressed ones.

Source: tensorflow/core/lib/io/record_writer.h; compression as in tf.io.TFRecordOptions (GZIP, ZLIB).
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence
from contextlib import ExitStack
from typing import IO

from stethoscope.data import dataset
from stethoscope.data.streams.text_source import DAMAGE, open_stream
from stethoscope.errors import TooLarge
from stethoscope.models.containers.damage import MAX_RATIO, RATIO_FLOOR_BYTES
from stethoscope.models.containers.record_framing import FOOTER, HEADER, length, masked
from stethoscope.types import ModelFile

_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
MAX_RECORD_BYTES = dataset.MAX_MEMBER_BYTES


class RecordFile:
    """One file of records."""

    def __init__(self, file: ModelFile, name: str, opened: ExitStack) -> None:
        self.name = name
        self._stream = _uncompressed(opened.enter_context(open_stream(file, name)), file, name)
        self._starts: list[int] = []
        self._sizes: list[int] = []
        self._next = 0
        self.ended = False
        self.damage = ""
        """Why the records after the last cannot be read; "" where there are none."""

    def __len__(self) -> int:
        """Records found so far."""
        return len(self._starts)

    @property
    def found_bytes(self) -> int:
        """Bytes of the records found so far."""
        return self._next

    def find(self, count: int) -> None:
        """Looks for records until there are `count`, or no more."""
        while len(self._starts) < count and not self.ended:
            try:
                self._stream.seek(self._next)
                head = self._stream.read(HEADER)
                if not head:
                    self.ended = True
                    self._drop_cut()
                    return
            except DAMAGE as error:
                self._stop(str(error) or "it ends early")
                return
            size = length(head) if len(head) == HEADER else None
            if size is None:
                self._stop("the length of the record fails its checksum" if len(head) == HEADER else "it ends early")
                return
            if size > MAX_RECORD_BYTES:
                self._stop(f"a record of {size:,} bytes, expected at most {MAX_RECORD_BYTES:,}")
                return
            self._starts.append(self._next + HEADER)
            self._sizes.append(size)
            self._next += HEADER + size + FOOTER

    def read(self, numbers: Sequence[int]) -> dict[int, tuple[bytes, str]]:
        """The records of these numbers: (content, what is wrong with it), those found; read from the first to the last."""
        found: dict[int, tuple[bytes, str]] = {}
        for number in sorted(set(numbers)):
            if number >= len(self._starts):
                continue
            try:
                self._stream.seek(self._starts[number])
                content = self._stream.read(self._sizes[number] + FOOTER)
            except DAMAGE as error:
                found[number] = (b"", f"The record is damaged ({error}).")
                continue
            payload, footer = content[: self._sizes[number]], content[self._sizes[number] :]
            if len(footer) < FOOTER:
                found[number] = (b"", "The file ends within this record.")
            elif masked(payload) != int.from_bytes(footer, "little"):
                found[number] = (b"", "The record fails its checksum.")
            else:
                found[number] = (payload, "")
        return found

    def _drop_cut(self) -> None:
        """The end of the file may lie within the last record, which seeking does not show."""
        if not self._starts:
            return
        self._stream.seek(self._next - 1)
        if not self._stream.read(1):
            self._next = self._starts.pop() - HEADER
            self._sizes.pop()
            self._stop("the file ends within the next one")

    def _stop(self, why: str) -> None:
        self.ended = True
        self.damage = f"Records after number {len(self._starts):,} cannot be read: {why}."


def _uncompressed(stream: IO[bytes], file: ModelFile, name: str) -> IO[bytes]:
    head = stream.read(HEADER)
    stream.seek(0)
    if head[:2] not in _ZLIB or length(head) is not None:
        return stream
    packed = stream.read(dataset.MAX_ANNOTATION_BYTES)
    limit = max(RATIO_FLOOR_BYTES, min(dataset.MAX_ANNOTATION_BYTES, MAX_RATIO * len(packed)))
    try:
        inflater = zlib.decompressobj()
        content = inflater.decompress(packed, limit)
    except zlib.error:
        return stream
    if inflater.unconsumed_tail:
        raise TooLarge(
            f"{file.name}: {name!r} inflates to more than {limit:,} bytes. Write it with GZIP or uncompressed."
        )
    return io.BytesIO(content)
