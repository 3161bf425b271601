"""Names in a protobuf message that are not UTF-8: replaced, because the parser would hand them out as bytes."""

from __future__ import annotations

import functools
from typing import Any

from stethoscope.models.containers import wire

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
        raise wire.Malformed("its messages nest too deeply")
    if bytes(view[start:end]).isascii():
        return None
    texts, messages = _fields(descriptor)
    out: list[bytes] = []
    copied = start
    for part in wire.fields(view, start, end):
        if part.kind != wire.BYTES:
            continue
        new: bytes | None = None
        if part.number in texts:
            new = _text(bytes(view[part.start : part.end]))
        elif part.number in messages:
            new = _walk(view, part.start, part.end, messages[part.number], depth + 1)
        if new is not None:
            out += [bytes(view[copied : part.begin]), wire.encode_bytes(part.number, new)]
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
