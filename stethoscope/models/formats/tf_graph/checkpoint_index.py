"""The index of a TensorFlow checkpoint (`.index`): which variables it stores, with dtype, shape and place, without their values.

A table of `BundleEntryProto` by name. Of a variable that is kept in slices, each slice is an entry of its own, under a key that
encodes name and slice.

Source: tensorflow/core/util/tensor_bundle, tensorflow/core/util/saved_tensor_slice_util.cc,
tensorflow/core/lib/strings/ordered_code.cc
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from stethoscope.models.containers import damage, wire
from stethoscope.models.containers.sorted_table import Damaged, Table
from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.types import Shape

T = TypeVar("T")
Extent = tuple[int, int]
"""Of one axis of a slice: start and length, -1 for all of it."""


@dataclass(frozen=True)
class Place:
    """The values of one variable: `size` bytes from `offset` in data file `shard`; `parts` where they are stored in slices."""

    dtype: str
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    parts: tuple[tuple[tuple[Extent, ...], Place], ...] = ()
    """Each slice, and where it lies."""
    sliced: bool = False


@dataclass(frozen=True)
class Bundle:
    """What an index lists: data files it needs, and (dtype, shape, bytes) by variable name."""

    shards: int
    entries: dict[str, tuple[str, Shape, int]]
    places: dict[str, Place] = field(default_factory=dict)
    """Where each of them lies."""


def read(data: memoryview | bytes) -> Bundle:
    """Reads a whole index.

    Raises:
        Damaged: truncated, malformed, or compressed in a way this reader does not know.
    """
    from google.protobuf.message import DecodeError

    messages = tf_proto.messages()
    shards = 0
    raw: dict[bytes, tuple[Place, Sequence[bytes]]] = {}
    try:
        for key, value in Table(memoryview(data)).items():
            if not key:
                shards = int(messages.BundleHeaderProto.FromString(bytes(value)).num_shards)
                continue
            entry = messages.BundleEntryProto.FromString(bytes(value))
            shape = tuple(int(dim.size) for dim in entry.shape.dim)
            place = Place(
                tf_proto.dtype_name(entry.dtype),
                shape,
                int(entry.shard_id),
                max(0, int(entry.offset)),
                max(0, int(entry.size)),
                sliced=bool(entry.slices),
            )
            raw[key] = place, tuple(entry.slices)
            if len(raw) > damage.MAX_LAYERS:
                raise Damaged("it lists more than a million variables")
        places = {key.decode("utf-8", "replace"): _whole(key, raw) for key in raw if key[:1] != b"\0"}
    except (wire.Malformed, DecodeError) as error:
        raise Damaged(str(error)) from error
    entries: dict[str, tuple[str, Shape, int]] = {
        name: (place.dtype, place.shape, _stored(place)) for name, place in places.items()
    }
    return Bundle(shards, entries, places)


def _stored(place: Place) -> int:
    return sum(part.size for _, part in place.parts) if place.sliced else place.size


def _whole(key: bytes, raw: dict[bytes, tuple[Place, Sequence[bytes]]]) -> Place:
    place, slices = raw[key]
    if not place.sliced:
        return place
    found = []
    for one in slices:
        extents = extents_of(memoryview(one))
        part = raw.get(key_of_slice(key, extents))
        if part is not None:
            found.append((extents, part[0]))
    return Place(place.dtype, place.shape, place.shard, place.offset, place.size, tuple(found), sliced=True)


def extents_of(slice_: memoryview) -> tuple[Extent, ...]:
    """The axes of a TensorSliceProto.

    Raises:
        wire.Malformed: it is none.
    """
    found = []
    for axis in wire.fields(slice_):
        if axis.number == 1 and axis.kind == wire.BYTES:
            values = {part.number: part.value for part in wire.fields(slice_, axis.start, axis.end)}
            found.append((values.get(1, 0), values.get(2, -1)))
    return tuple(found)


IN_ROWS = "it is stored in slices that do not lie one after the other along its first axis"


def in_rows(shape: Sequence[int], parts: Sequence[tuple[tuple[Extent, ...], T]]) -> list[T] | None:
    """The slices in the order of the whole variable; None where one is not some rows of it, or rows are missing."""
    at, found = 0, []
    for extents, part in sorted(parts, key=lambda item: item[0][:1]):
        whole = [(start, size if length < 0 else length) for (start, length), size in zip(extents, shape, strict=False)]
        if len(whole) != len(shape) or not whole or whole[0][0] != at or whole[1:] != [(0, size) for size in shape[1:]]:
            return [part] if not shape and len(parts) == 1 else None
        at += whole[0][1]
        found.append(part)
    return found if shape and at == shape[0] else None


def key_of_slice(name: bytes, extents: Sequence[Extent]) -> bytes:
    """Under which a slice of a variable is stored."""
    return b"".join((_number(0), _escaped(name), b"\x00\x01", _number(len(extents)), *_signed(extents)))


def _escaped(name: bytes) -> bytes:
    return b"".join({0: b"\x00\xff", 255: b"\xff\x00"}.get(byte, bytes((byte,))) for byte in name)


def _number(value: int) -> bytes:
    digits = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes((len(digits),)) + digits


def _signed(extents: Sequence[Extent]) -> Iterator[bytes]:
    for value in (number for extent in extents for number in extent):
        magnitude = ~value if value < 0 else value
        length = magnitude.bit_length() // 7 + 1
        digits = bytearray(value.to_bytes(10, "big", signed=True)[-length:])
        digits[0] ^= _HEADER[length][0]
        if length > 1:
            digits[1] ^= _HEADER[length][1]
        yield bytes(digits)


_HEADER = ((0, 0), *((0xFF << (8 - n) & 0xFF, 0) for n in range(1, 9)), (0xFF, 0x80), (0xFF, 0xC0))
"""What the first two bytes of a signed number of so many bytes are marked with."""
