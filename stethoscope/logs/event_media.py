"""What records with one medium say of it, found without looking through the media themselves.

Most bytes of an event file that holds media are in such records, each of another size, so that they cannot be read as
columns. Their head and tail are few bytes: the lengths in the head are read of all records at once, the tail of each tag once.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stethoscope.logs.event_layout import Layout, read_value
from stethoscope.models.containers.record_framing import Bytes, Positions
from stethoscope.models.containers.wire import BYTES, Field, Malformed, encode_bytes

_WALL, _STEP, _SUMMARY, _VALUE, _TAG = 0x09, 0x10, 0x2A, 0x0A, 0x0A
"""How each field begins, in the order in which every writer has them."""
_PAYLOADS = np.isin(np.arange(256), (0x22, 0x2A, 0x32, 0x42))
"""An image, histogram, audio or tensor."""
_WALL_BYTES = 8
_FAR = 1 << 40
_MAX_TAG_BYTES, _MAX_TAIL_BYTES = 2_000, 400


class MediaRecords(NamedTuple):
    """Records with one medium each; all arrays have the shape (records,)."""

    described: list[Layout]
    """Which media there are and what is said about them; their places mean nothing."""
    which: npt.NDArray[np.intp]
    """Index into `described`; -1 where a record has to be read in full."""
    step: npt.NDArray[np.int64]
    wall_time: npt.NDArray[np.float64]


def media_records(content: bytes, begins: Positions, ends: Positions) -> MediaRecords:
    """Reads the records at `content[begin:end]`."""
    if not len(begins):
        return MediaRecords([], np.empty(0, np.intp), np.empty(0, np.int64), np.empty(0))
    heads = _Heads(content)
    fits = heads.byte(begins) == _WALL
    wall = heads.double(begins + 1)
    at = begins + 9
    has_step = heads.byte(at) == _STEP
    number, after = heads.varint(at + 1)
    step = np.where(has_step, number, 0)
    at = np.where(has_step, after, at)
    for key in (_SUMMARY, _VALUE):
        fits &= heads.byte(at) == key
        size, at = heads.length(at + 1)
        fits &= size == ends - at
    fits &= heads.byte(at) == _TAG
    size, tag = heads.length(at + 1)
    payload = tag + size
    fits &= (size <= _MAX_TAG_BYTES) & _PAYLOADS[heads.byte(payload)]
    size, at = heads.length(payload + 1)
    tail = at + size
    # Where a head reaches beyond what can be read at once, bytes of another place were looked at.
    fits &= (payload <= heads.last - 1) & (tail <= ends) & (ends - tail <= _MAX_TAIL_BYTES)
    rows = np.flatnonzero(fits)
    known: dict[tuple[bytes, bytes], int] = {}
    described: list[Layout] = []
    found = []
    places = (part[rows].tolist() for part in (tag, payload + 1, tail, ends))
    for tag_start, tag_end, tail_start, end in zip(*places, strict=True):
        words = content[tag_start:tag_end], content[tail_start:end]
        index = known.get(words)
        if index is None:
            one = _described(*words)
            index = known[words] = -1 if one is None else len(described)
            described.extend([] if one is None else [one])
        found.append(index)
    which = np.full(len(begins), -1, np.intp)
    which[rows] = found
    return MediaRecords(described, which, step, wall)


class _Heads:
    """Bytes at many places at once; a place too near the end stands for the last that is not."""

    def __init__(self, content: bytes) -> None:
        self._data = np.frombuffer(content, np.uint8)
        self.last = len(self._data) - _WALL_BYTES
        shape = (self.last + 1, _WALL_BYTES)
        self._rows = np.lib.stride_tricks.as_strided(self._data, shape, (1, 1), writeable=False)

    def byte(self, at: Positions) -> Bytes:
        """The bytes at these places."""
        return self._data[np.minimum(at, self.last)]

    def double(self, at: Positions) -> npt.NDArray[np.float64]:
        """The numbers of eight bytes at these places."""
        return self._rows[np.minimum(at, self.last)].view("<f8")[:, 0]

    def varint(self, at: Positions) -> tuple[npt.NDArray[np.int64], Positions]:
        """(the numbers that begin there, modulo 2**64; where they end: far away when they have more than ten bytes)."""
        byte, after = self.byte(at), at + 1
        value, more, shift = (byte & np.uint8(0x7F)).astype(np.int64), byte >= 0x80, 7
        while shift < 70 and more.any():
            byte = self.byte(after)
            value |= np.where(more, (byte & np.uint8(0x7F)).astype(np.int64) << shift, 0)
            after = after + more
            more, shift = more & (byte >= 0x80), shift + 7
        return value, np.where(more, _FAR, after)

    def length(self, at: Positions) -> tuple[Positions, Positions]:
        """The same for lengths, at most 1 TiB."""
        value, after = self.varint(at)
        return np.where((value < 0) | (value > _FAR), _FAR, value), after


@functools.lru_cache(8_192)
def _described(tag_and_key: bytes, tail: bytes) -> Layout | None:
    """What a value says besides its payload; None when what it is depends on the payload."""
    value, found = encode_bytes(1, tag_and_key[:-1]) + tag_and_key[-1:] + b"\x00" + tail, Layout()
    try:
        read_value(memoryview(value), Field(1, BYTES, 0, 0, len(value), 0), found)
    except Malformed:
        return None
    # A medium whose bytes are left alone is noted as free; a tensor that had to be looked into is not.
    return found if len(found.media) == 1 and found.free and not found.numbers else None
