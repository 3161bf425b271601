"""TFRecord files and the tf.train.Example messages in them, read off their bytes.

Source: tensorflow/core/lib/io/record_writer.h; compression as in tf.io.TFRecordOptions (GZIP, ZLIB);
tensorflow/core/example/example.proto and feature.proto for the messages.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from stethoscope.data import dataset
from stethoscope.data.streams.text_source import DAMAGE, open_stream
from stethoscope.errors import TooLarge
from stethoscope.models.containers.damage import MAX_RATIO, RATIO_FLOOR_BYTES
from stethoscope.models.containers.record_framing import FOOTER, HEADER, length, masked
from stethoscope.models.containers.wire import BYTES, FIXED32, VARINT, Malformed, fields
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


Feature: TypeAlias = "list[bytes] | npt.NDArray[Any]"
"""What one feature of one record holds: byte strings, float32 or int64; steps of a feature list as one array or list."""
_MAX_FEATURES = 2_000
_MAX_NAME_BYTES = 1_000


def read_example(payload: bytes) -> dict[str, Feature] | None:
    """The features of one record; None where it is neither an Example nor a SequenceExample."""
    view = memoryview(payload)
    try:
        parts = [(one.number, one.kind, one.start, one.end) for one in fields(view)]
        if not parts or any(kind != BYTES or number not in (1, 2) for number, kind, _, _ in parts):
            return None
        found: dict[str, Feature] = {}
        for number, _, start, end in parts:
            found |= _features(view, start, end) if number == 1 else _feature_lists(view, start, end)
    except (Malformed, UnicodeDecodeError, ValueError):
        return None
    return found


def _features(view: memoryview, start: int, end: int) -> dict[str, Feature]:
    found: dict[str, Feature] = {}
    for name, (first, last) in _entries(view, start, end).items():
        found[name] = _feature(view, first, last)
    return found


def _feature_lists(view: memoryview, start: int, end: int) -> dict[str, Feature]:
    found: dict[str, Feature] = {}
    for name, (first, last) in _entries(view, start, end).items():
        steps = [
            _feature(view, one.start, one.end)
            for one in fields(view, first, last)
            if one.number == 1 and one.kind == BYTES
        ]
        found[name] = _joined(steps)
    return found


def _joined(steps: list[Feature]) -> Feature:
    if any(isinstance(step, list) for step in steps) or not steps:
        return [value for step in steps if isinstance(step, list) for value in step]
    arrays = [np.asarray(step) for step in steps]
    sizes = {len(array) for array in arrays}
    joined = np.concatenate(arrays)
    return joined.reshape(len(arrays), -1) if len(sizes) == 1 and sizes != {1} else joined


def _entries(view: memoryview, start: int, end: int) -> dict[str, tuple[int, int]]:
    """Of a map<string, message>: where each value lies."""
    found: dict[str, tuple[int, int]] = {}
    for entry in fields(view, start, end):
        if entry.number != 1 or entry.kind != BYTES:
            raise Malformed("no map of features")
        name, value = "", (0, 0)
        for part in fields(view, entry.start, entry.end):
            if part.kind != BYTES or part.number not in (1, 2):
                raise Malformed("no feature")
            if part.number == 1:
                if part.end - part.start > _MAX_NAME_BYTES:
                    raise Malformed("a name is too long")
                name = bytes(view[part.start : part.end]).decode("utf-8")
            else:
                value = part.start, part.end
        found[name] = value
        if len(found) > _MAX_FEATURES:
            raise Malformed("too many features")
    return found


def _feature(view: memoryview, start: int, end: int) -> Feature:
    for kind in fields(view, start, end):
        if kind.kind != BYTES or kind.number not in (1, 2, 3):
            raise Malformed("no list of values")
        if kind.number == 1:
            return [bytes(view[one.start : one.end]) for one in fields(view, kind.start, kind.end) if one.kind == BYTES]
        if kind.number == 2:
            return _floats(view, kind.start, kind.end)
        return _integers(view, kind.start, kind.end)
    return np.zeros(0, np.float32)


def _floats(view: memoryview, start: int, end: int) -> npt.NDArray[np.float32]:
    pieces = []
    for one in fields(view, start, end):
        if one.kind not in (BYTES, FIXED32) or (one.end - one.start) % 4:
            raise Malformed("no floats")
        pieces.append(bytes(view[one.start : one.end]))
    return np.frombuffer(b"".join(pieces), "<f4").astype(np.float32)


def _integers(view: memoryview, start: int, end: int) -> npt.NDArray[np.int64]:
    pieces: list[npt.NDArray[np.int64]] = []
    for one in fields(view, start, end):
        if one.kind == VARINT:
            pieces.append(_signed(np.array([one.value & 0xFFFFFFFFFFFFFFFF], np.uint64)))
        elif one.kind == BYTES:
            pieces.append(_varints(bytes(view[one.start : one.end])))
        else:
            raise Malformed("no integers")
    return np.concatenate(pieces) if pieces else np.zeros(0, np.int64)


def _varints(payload: bytes) -> npt.NDArray[np.int64]:
    """Packed varints, all at once: shape (values,)."""
    content = np.frombuffer(payload, np.uint8)
    if not len(content):
        return np.zeros(0, np.int64)
    ends = np.flatnonzero(content < 0x80)
    if not len(ends) or ends[-1] != len(content) - 1:
        raise Malformed("truncated numbers")
    starts = np.concatenate([[0], ends[:-1] + 1])
    widths = ends - starts + 1
    if int(widths.max()) > 10:
        raise Malformed("a number is too long")
    values = np.zeros(len(ends), np.uint64)
    for byte in range(int(widths.max())):
        has = widths > byte
        bits = (content[starts[has] + byte] & 0x7F).astype(np.uint64)
        values[has] |= bits << np.uint64(7 * byte)
    return _signed(values)


def _signed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    return values.view(np.int64)


def names_of(rows: list[Mapping[str, Feature]]) -> list[str]:
    """Every feature's name, in the order in which they come up (a record lists its own in any order), sorted."""
    return sorted({name for row in rows for name in row})
