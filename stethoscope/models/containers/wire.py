"""Protocol-buffer wire format, read in place: field spans without copying or decoding what they hold.

Lets a reader walk a multi-gigabyte model (mapped, not read) and touch only the bytes of its graph.
Source: https://protobuf.dev/programming-guides/encoding/

Names in a protobuf message that are not UTF-8: replaced, because the parser would hand them out as bytes.
"""

from __future__ import annotations

import functools
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from stethoscope.errors import UnreadableFile
from stethoscope.types import ModelFile

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class Field(NamedTuple):
    """One field of a message. `begin` is where its tag starts; `start`:`end` is its payload; `value` is a varint's value."""

    number: int
    kind: int
    begin: int
    start: int
    end: int
    value: int


class Malformed(ValueError):
    """The bytes are not a protocol-buffer message."""


@contextmanager
def mapped(file: ModelFile, offset: int = 0, length: int | None = None) -> Iterator[memoryview]:
    """Maps `file` (or `length` bytes of it from `offset`) read-only.

    Raises:
        UnreadableFile: the file is empty or shorter than asked.
    """
    size = file.path.stat().st_size
    end = size if length is None else offset + length
    if size == 0 or end > size:
        raise UnreadableFile(f"{file.name}: expected {end:,} bytes, got {size:,}. The upload is incomplete; repeat it.")
    with file.path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        view = memoryview(whole)
        part = view[offset:end]
        try:
            yield part
        finally:
            part.release()
            view.release()


def varint(view: memoryview, position: int, end: int) -> tuple[int, int]:
    """Returns (value, next position).

    Raises:
        Malformed: truncated, or longer than ten bytes.
    """
    value = shift = 0
    while position < end and shift < 70:
        byte = view[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise Malformed(f"truncated number at byte {position}")


def fields(view: memoryview, start: int = 0, end: int | None = None) -> Iterator[Field]:
    """Yields the fields of the message in `view[start:end]`, in file order.

    Raises:
        Malformed: a tag, length or group that no message has.
    """
    position, stop = start, len(view) if end is None else end
    while position < stop:
        begin = position
        tag, position = varint(view, position, stop)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise Malformed(f"field number 0 at byte {begin}")
        value = 0
        if kind == VARINT:
            payload = position
            value, position = varint(view, position, stop)
        elif kind == BYTES:
            length, payload = varint(view, position, stop)
            position = payload + length
        elif kind in (FIXED64, FIXED32):
            payload, position = position, position + (8 if kind == FIXED64 else 4)
        else:
            raise Malformed(f"wire type {kind} at byte {begin}")
        if position > stop:
            raise Malformed(f"field {number} at byte {begin} runs past the end of its message")
        yield Field(number, kind, begin, payload, position, value)


def encode_varint(value: int) -> bytes:
    """Returns `value` (0 or more) as a varint."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_bytes(number: int, payload: bytes) -> bytes:
    """Returns a length-delimited field."""
    return encode_varint(number << 3 | BYTES) + encode_varint(len(payload)) + payload


_MAX_DEPTH = 100
"""Protobuf's own limit on nested messages."""


def cleaned(data: bytes, descriptor: Any) -> bytes:
    """Returns the message with every string field valid UTF-8; the very same bytes when it was.

    Args:
        data: a whole message, small enough to copy.
        descriptor: the `DESCRIPTOR` of its class.

    Raises:
        wire.Malformed: not a message of that kind, or nested deeper than protobuf reads.
    """
    changed = _walk(memoryview(data), 0, len(data), descriptor, 0)
    return data if changed is None else changed


def _walk(view: memoryview, start: int, end: int, descriptor: Any, depth: int) -> bytes | None:
    """The cleaned message, or None when nothing in it had to change."""
    if depth > _MAX_DEPTH:
        raise Malformed("its messages nest too deeply")
    if bytes(view[start:end]).isascii():
        return None
    texts, messages = _fields(descriptor)
    out: list[bytes] = []
    copied = start
    for part in fields(view, start, end):
        if part.kind != BYTES:
            continue
        new: bytes | None = None
        if part.number in texts:
            new = _text(bytes(view[part.start : part.end]))
        elif part.number in messages:
            new = _walk(view, part.start, part.end, messages[part.number], depth + 1)
        if new is not None:
            out += [bytes(view[copied : part.begin]), encode_bytes(part.number, new)]
            copied = part.end
    return b"".join([*out, bytes(view[copied:end])]) if out else None


def _text(raw: bytes) -> bytes | None:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace").encode()
    return None


@functools.cache
def _fields(descriptor: Any) -> tuple[frozenset[int], dict[int, Any]]:
    texts = frozenset(field.number for field in descriptor.fields if field.type == field.TYPE_STRING)
    return texts, {field.number: field.message_type for field in descriptor.fields if field.message_type is not None}
