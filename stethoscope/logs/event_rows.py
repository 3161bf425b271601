"""What rows of bytes with one layout hold: scalars as columns, the places of media, and what is told about them.

What records with one medium say of it, found without looking through the media themselves.

Most bytes of an event file that holds media are in such records, each of another size, so that they cannot be read as
columns. Their head and tail are few bytes: the lengths in the head are read of all records at once, the tail of each tag once.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stethoscope.logs.event_layout import Layout, Medium, Number, read_value
from stethoscope.models.containers.record_framing import Bytes, Positions
from stethoscope.models.containers.wire import BYTES, Field, Malformed, encode_bytes


class Scalars(NamedTuple):
    """Points of one or more tags; all arrays have the shape (points,)."""

    tags: list[tuple[str, bool]]
    """Tags, and whether their plugin still has to say that they are scalars."""
    tag: npt.NDArray[np.intp]
    """Index into `tags`."""
    record: Positions
    """Which record of those given."""
    step: npt.NDArray[np.int64]
    wall_time: npt.NDArray[np.float64]
    value: npt.NDArray[np.float64]


class Places(NamedTuple):
    """Media of one or more tags; all arrays have the shape (points,)."""

    media: list[Medium]
    medium: npt.NDArray[np.intp]
    record: Positions
    step: npt.NDArray[np.int64]
    wall_time: npt.NDArray[np.float64]


@dataclasses.dataclass
class Decoded:
    """What a number of records hold, in no order."""

    scalars: list[Scalars] = dataclasses.field(default_factory=list)
    places: list[Places] = dataclasses.field(default_factory=list)
    plugins: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    sessions: list[bytes] = dataclasses.field(default_factory=list)
    left_out: int = 0
    bad: list[int] = dataclasses.field(default_factory=list)
    """Records that are damaged."""


def take_rows(
    rows: Bytes, records: Positions, which: npt.NDArray[np.intp], example: Layout, layouts: list[Layout], found: Decoded
) -> None:
    """Reads rows that were checked, shape (rows, bytes); `which` says which of `layouts` each has."""
    step, wall, *values = _columns(rows, example)
    for at, number in enumerate(example.numbers):
        tags = [(one.numbers[at].tag, number.plugin_unknown) for one in layouts]
        found.scalars.append(Scalars(tags, which, records, step, wall, values[at]))
    used = [layouts[at] for at in np.flatnonzero(np.bincount(which, minlength=len(layouts)))]
    for one in used:
        note(one, found)
    for at in range(max(len(one.media) for one in used)):
        media = [one.media[at] if at < len(one.media) else Medium("", "") for one in layouts]
        has = np.array([at < len(one.media) for one in layouts])[which]
        found.places.append(Places(media, which[has], records[has], step[has], wall[has]))


def take_cycles(rows: Bytes, records: Positions, example: Layout, layouts: list[Layout], found: Decoded) -> None:
    """Reads rows that were checked, shape (layouts, rows, bytes)."""
    columns, which = _columns(rows, example), np.zeros(records.shape[1], np.intp)
    for at, one in enumerate(layouts):
        # Copies where there are several, so that one tag does not keep the columns of all.
        own = (column[at].copy() if len(layouts) > 1 else column[at] for column in columns)
        record, (step, wall, *values) = records[at], own
        for number, value in zip(one.numbers, values, strict=True):
            found.scalars.append(Scalars([(number.tag, number.plugin_unknown)], which, record, step, wall, value))
        for medium in one.media:
            found.places.append(Places([medium], which, record, step, wall))
        note(one, found)


def _columns(rows: Bytes, example: Layout) -> list[npt.NDArray[Any]]:
    """Steps, wall times and the values of each number of rows, shape (…, bytes); each has the shape (…)."""
    # Copied, as all columns are: a view would keep what was read of the file.
    wall = _fixed(rows, example.wall, 8, "<f8").copy() if example.wall >= 0 else np.zeros(rows.shape[:-1])
    step = _varint(rows, example.step, example.step_width).view(np.int64)
    return [step, wall, *(_values(rows, number) for number in example.numbers)]


def _values(rows: Bytes, number: Number) -> npt.NDArray[np.float64]:
    if number.kind == "zero":
        return np.zeros(rows.shape[:-1])
    if number.kind.startswith("varint "):
        raw, kind = _varint(rows, number.at, number.width), number.kind.removeprefix("varint ")
        if kind == "signed":
            return raw.view(np.int64).astype(np.float64)
        if kind == "unsigned":
            return raw.astype(np.float64)
        short = raw.astype(np.uint16)
        return _brain(short) if kind == "bfloat16" else short.view(np.float16).astype(np.float64)
    if number.kind == "bfloat16":
        return _brain(_fixed(rows, number.at, 2, "<u2"))
    return _fixed(rows, number.at, number.width, number.kind).astype(np.float64)


def _brain(short: npt.NDArray[np.uint16]) -> npt.NDArray[np.float64]:
    """bfloat16 is the upper half of a float32."""
    return (short.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def _fixed(rows: Bytes, at: int, width: int, kind: str) -> npt.NDArray[Any]:
    return rows[..., at : at + width].view(kind)[..., 0]


def _varint(rows: Bytes, at: int, width: int) -> npt.NDArray[np.uint64]:
    if width < 1:
        return np.zeros(rows.shape[:-1], np.uint64)
    number = (rows[..., at] & np.uint8(0x7F)).astype(np.uint64)
    for byte in range(1, width):
        number |= (rows[..., at + byte] & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * byte)
    return number


def note(one: Layout, found: Decoded) -> None:
    """Keeps what a record says about tags and the run."""
    found.plugins.extend(one.plugins)
    found.sessions.extend(one.sessions)
    found.left_out += one.left_out


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
