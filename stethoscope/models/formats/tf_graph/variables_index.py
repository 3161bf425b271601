"""Reads `variables.index`: which variables a SavedModel or checkpoint stores, with dtype and shape, without their values.

The file is a LevelDB table of `BundleEntryProto` by name. TensorFlow writes its blocks plain or compressed with snappy.

Source: tensorflow/core/util/tensor_bundle, https://github.com/google/leveldb/blob/main/doc/table_format.md
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from stethoscope.models.containers import damage, wire
from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.types import Shape

MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
_FOOTER_BYTES = 48
_TRAILER_BYTES = 5


class Damaged(ValueError):
    """The index is truncated, or not an index."""


@dataclass(frozen=True)
class Place:
    """The values of one variable: `size` bytes from `offset` in data file `shard`; `sliced` when they are stored in parts."""

    dtype: str
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    sliced: bool


@dataclass(frozen=True)
class Bundle:
    """What an index lists: data files it needs, and (dtype, shape, bytes) by variable name."""

    shards: int
    entries: dict[str, tuple[str, Shape, int]]
    places: dict[str, Place] = field(default_factory=dict)
    """Where each of them lies."""


def read(data: bytes) -> Bundle:
    """Reads a whole index.

    Raises:
        Damaged: truncated, malformed, or compressed in a way this reader does not know.
    """
    from google.protobuf.message import DecodeError

    if len(data) < _FOOTER_BYTES or data[-8:] != MAGIC:
        raise Damaged("its last bytes are not those of a checkpoint index")
    view = memoryview(data)
    messages = tf_proto.messages()
    shards = 0
    entries: dict[str, tuple[str, Shape, int]] = {}
    places: dict[str, Place] = {}
    try:
        position = len(data) - _FOOTER_BYTES
        for _ in range(2):
            _, position = wire.varint(view, position, len(data))
        offset, position = wire.varint(view, position, len(data))
        size, _ = wire.varint(view, position, len(data))
        for _, handle in _block(view, offset, size):
            start, after = wire.varint(handle, 0, len(handle))
            length, _ = wire.varint(handle, after, len(handle))
            for key, value in _block(view, start, length):
                if not key:
                    shards = int(messages.BundleHeaderProto.FromString(bytes(value)).num_shards)
                    continue
                entry = messages.BundleEntryProto.FromString(bytes(value))
                shape = tuple(int(dim.size) for dim in entry.shape.dim)
                name, dtype = key.decode("utf-8", "replace"), tf_proto.dtype_name(entry.dtype)
                entries[name] = (dtype, shape, int(entry.size))
                places[name] = Place(
                    dtype,
                    shape,
                    int(entry.shard_id),
                    max(0, int(entry.offset)),
                    max(0, int(entry.size)),
                    bool(entry.slices),
                )
                if len(entries) > damage.MAX_LAYERS:
                    raise Damaged("it lists more than a million variables")
    except (wire.Malformed, DecodeError) as error:
        raise Damaged(str(error)) from error
    return Bundle(shards, entries, places)


def _block(view: memoryview, offset: int, size: int) -> Iterator[tuple[bytes, memoryview]]:
    """Yields (key, value) of one table block; keys share prefixes with their predecessor."""
    end = offset + size
    if end + _TRAILER_BYTES > len(view):
        raise Damaged("a block lies beyond its end")
    if view[end] == 1:
        view = memoryview(_snappy(view[offset:end]))
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


def _snappy(view: memoryview) -> bytes:
    """Decompresses one snappy block.

    Source: https://github.com/google/snappy/blob/main/format_description.txt
    """
    size, position = wire.varint(view, 0, len(view))
    if size > damage.MAX_CONFIG_BYTES:
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
