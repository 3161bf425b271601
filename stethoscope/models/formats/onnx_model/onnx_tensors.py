"""ONNX tensors on the wire: what they declare against what is stored, checked before anything is allocated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from stethoscope.errors import TooLarge, UnreadableFile, UnsafeFile
from stethoscope.models.containers import damage, wire

if TYPE_CHECKING:
    import onnx

DTYPES: Mapping[int, tuple[str, int]] = {
    1: ("float32", 32),
    2: ("uint8", 8),
    3: ("int8", 8),
    4: ("uint16", 16),
    5: ("int16", 16),
    6: ("int32", 32),
    7: ("int64", 64),
    8: ("string", 0),
    9: ("bool", 8),
    10: ("float16", 16),
    11: ("float64", 64),
    12: ("uint32", 32),
    13: ("uint64", 64),
    14: ("complex64", 64),
    15: ("complex128", 128),
    16: ("bfloat16", 16),
    17: ("float8_e4m3fn", 8),
    18: ("float8_e4m3fnuz", 8),
    19: ("float8_e5m2", 8),
    20: ("float8_e5m2fnuz", 8),
    21: ("uint4", 4),
    22: ("int4", 4),
    23: ("float4_e2m1fn", 4),
    24: ("float8_e8m0fnu", 8),
    25: ("uint2", 2),
    26: ("int2", 2),
    27: ("float6_e2m3fn", 6),
    28: ("float6_e3m2fn", 6),
}
"""(name, bits per element) by TensorProto.DataType. Source: onnx.proto, IR version 14."""

LEFT_OUT = "weights-left-out"
"""The location that a stripped tensor names: no such file exists, viewers then show its shape alone."""
_KEPT_BYTES = 1024
"""Larger payloads are left out of the skeleton; shapes, axes and scales stay."""
_PAYLOADS = {4: 4, 5: 0, 6: -1, 7: 0, 9: 1, 10: 8, 11: 0}
"""Payload fields: bytes per value when packed, 0 for varints, -1 for one value per field."""
_EXTERNAL = 1


@dataclass
class Tensor:
    """What one TensorProto says: counts are of values in its typed fields, `raw_bytes` is its raw payload."""

    name: str = ""
    dims: list[int] = field(default_factory=list)
    data_type: int = 0
    raw_bytes: int | None = None
    values: int = 0
    payload_bytes: int = 0
    external: bool = False
    entries: dict[str, str] = field(default_factory=dict)

    @property
    def dtype(self) -> str:
        """The dtype's name, "" for one this version does not know."""
        return DTYPES.get(self.data_type, ("", 0))[0]

    @property
    def declared_bytes(self) -> int:
        """Bytes that dims and type ask for; 0 for strings."""
        return (math.prod(self.dims) * DTYPES.get(self.data_type, ("", 0))[1] + 7) // 8


def read_tensor(view: memoryview, start: int, end: int) -> tuple[Tensor, list[wire.Field]]:
    """Returns (tensor, the fields to keep when its payload is left out).

    Raises:
        wire.Malformed: not a message.
    """
    tensor, kept = Tensor(), []
    for part in wire.fields(view, start, end):
        if part.number in _PAYLOADS:
            tensor.payload_bytes += part.end - part.start
            if part.number == 9:
                tensor.raw_bytes = part.end - part.start
            else:
                tensor.values += _count(view, part)
            continue
        if part.number == 1:
            tensor.dims += _dims(view, part)
        elif part.number == 2 and part.kind == wire.VARINT:
            tensor.data_type = part.value
        elif part.number == 8 and part.kind == wire.BYTES:
            tensor.name = _text(view, part)
        elif part.number == 14:
            tensor.external = part.value == _EXTERNAL
        elif part.number == 13 and part.kind == wire.BYTES:
            key, value = _entry(view, part)
            tensor.entries[key] = value
        kept.append(part)
    return tensor, kept


def check_tensor(subject: str, tensor: Tensor) -> bool:
    """Holds a tensor's declaration against what is stored; returns False when nothing at all is stored.

    Raises:
        TooLarge: it declares more than the budget.
        UnreadableFile: a negative dimension, or more or fewer values than declared.
    """
    where = f"{subject}: tensor {tensor.name[:80]!r} of shape {tensor.dims[:8]}"
    if any(size < 0 for size in tensor.dims):
        raise UnreadableFile(f"{where}: expected sizes of 0 or more. Export the model again.")
    if tensor.declared_bytes > damage.MAX_WEIGHT_BYTES or math.prod(tensor.dims) > 8 * damage.MAX_WEIGHT_BYTES:
        raise TooLarge(
            f"{where} declares {tensor.declared_bytes:,} bytes, expected at most {damage.MAX_WEIGHT_BYTES:,}. Export the model again."
        )
    if tensor.external or not tensor.dtype or math.prod(tensor.dims) == 0:
        return True
    if not tensor.raw_bytes and tensor.values == 0:
        return False
    stored, expected, unit = tensor.values, _expected_values(tensor), "values"
    if tensor.raw_bytes:
        stored, expected, unit = tensor.raw_bytes, tensor.declared_bytes, "bytes"
    if stored != expected:
        raise UnreadableFile(
            f"{where}: expected {expected:,} {unit}, got {stored:,}. The file is damaged; export or upload it again."
        )
    return True


def stripped(view: memoryview, tensor: Tensor, kept: list[wire.Field], start: int, end: int) -> bytes:
    """Returns the TensorProto without a large payload: it then refers to `LEFT_OUT`, so that viewers keep its shape."""
    if tensor.payload_bytes <= _KEPT_BYTES:
        return bytes(view[start:end])
    out = b"".join(bytes(view[part.begin : part.end]) for part in kept if part.number not in (13, 14))
    entry = wire.encode_bytes(1, b"location") + wire.encode_bytes(2, LEFT_OUT.encode())
    return out + wire.encode_bytes(13, entry) + wire.encode_varint(14 << 3) + wire.encode_varint(_EXTERNAL)


def is_left_out(tensor: onnx.TensorProto) -> bool:
    """Whether a parsed tensor has its values elsewhere: left out by `stripped`, or in a data file."""
    return tensor.data_location == _EXTERNAL


def check_external(subject: str, tensor: Tensor, files: Mapping[str, int]) -> None:
    """Holds a reference to external data against the files that came with the model.

    Args:
        subject: the model's name.
        tensor: one whose `external` is true.
        files: bytes by path relative to the model's folder.

    Raises:
        UnsafeFile: it names a place outside that folder.
        UnreadableFile: the file did not come along, or is too short.
    """
    location = tensor.entries.get("location", "")
    parts = PurePosixPath(location).parts
    odd = any(ord(character) < 32 or character in '\\:*?"<>|' for character in location)
    if not parts or location.startswith("/") or ".." in parts or odd:
        raise UnsafeFile(
            f"{subject}: tensor {tensor.name[:80]!r} keeps its data at {location[:200]!r}, expected a file beside the model. "
            "No honest export does that; do not use it."
        )
    path = "/".join(parts)
    if path not in files:
        raise UnreadableFile(f"{subject}: refers to {path}: upload the .onnx and the {path} file in the same zip.")
    offset, length = _integer(subject, tensor, "offset", 0), _integer(subject, tensor, "length", tensor.declared_bytes)
    if offset + max(length, tensor.declared_bytes) > files[path]:
        raise UnreadableFile(
            f"{subject}: tensor {tensor.name[:80]!r} needs bytes {offset:,} to {offset + max(length, tensor.declared_bytes):,} of {path}, "
            f"which has {files[path]:,}. That file is incomplete or from another export; pack it again."
        )


def _integer(subject: str, tensor: Tensor, key: str, default: int) -> int:
    text = tensor.entries.get(key, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise UnreadableFile(
            f"{subject}: tensor {tensor.name[:80]!r} has the {key} {text[:40]!r}, expected a number. Export the model again."
        )
    return int(text)


def _expected_values(tensor: Tensor) -> int:
    elements, bits = math.prod(tensor.dims), DTYPES[tensor.data_type][1]
    if tensor.dtype.startswith("complex"):
        return 2 * elements
    # Types below one byte are packed into the int32 field byte by byte.
    return (elements * bits + 7) // 8 if 0 < bits < 8 else elements


def _count(view: memoryview, part: wire.Field) -> int:
    width = _PAYLOADS[part.number]
    if part.kind != wire.BYTES or width < 0:
        return 1
    if width:
        return (part.end - part.start) // width
    payload = np.frombuffer(view[part.start : part.end], dtype=np.uint8)
    return int(np.count_nonzero(payload < 0x80))


def _dims(view: memoryview, part: wire.Field) -> list[int]:
    if part.kind == wire.VARINT:
        return [_signed(part.value)]
    found, position = [], part.start
    while part.kind == wire.BYTES and position < part.end:
        value, position = wire.varint(view, position, part.end)
        found.append(_signed(value))
    return found


def _signed(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def _entry(view: memoryview, part: wire.Field) -> tuple[str, str]:
    texts = {
        item.number: _text(view, item) for item in wire.fields(view, part.start, part.end) if item.kind == wire.BYTES
    }
    return texts.get(1, ""), texts.get(2, "")


def _text(view: memoryview, part: wire.Field) -> str:
    return bytes(view[part.start : min(part.end, part.start + 4096)]).decode("utf-8", "replace")
