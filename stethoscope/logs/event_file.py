"""One TensorBoard event file: framing, checksums and scalar values, read with bounds and without TensorBoard.

A record is length (8 bytes), checksum of the length, content, checksum of the content. A record whose content is damaged
loses itself; after a damaged length the next one whose checksum fits is looked for.
Source: tensorflow/core/lib/io/record_writer.h; tensorboard/compat/proto/event.proto, summary.proto, tensor.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from stethoscope.containers.wire import BYTES, FIXED32, FIXED64, VARINT, Field, Malformed, fields, varint
from stethoscope.logs.crc32c import masked
from stethoscope.logs.tracker import MAX_FILE_BYTES, MAX_POINTS

MAX_TAGS = 20_000
_FLOAT, _DOUBLE, _INT32, _INT64, _BFLOAT16, _HALF = 1, 2, 3, 9, 14, 19
_WIDTH = {_FLOAT: 4, _DOUBLE: 8, _INT32: 4, _INT64: 8, _BFLOAT16: 2, _HALF: 2}
_LAYOUT = {_FLOAT: "<f", _DOUBLE: "<d", _INT32: "<i", _INT64: "<q", _HALF: "<e"}
_REPEATED = {5: _FLOAT, 6: _DOUBLE, 7: _INT32, 10: _INT64, 13: _HALF}
"""TensorProto's fields of repeated values, by number."""


@dataclass
class EventLog:
    """Scalars of one or more event files of a run: tag → [(step, wall time, value)] in the order written."""

    points: dict[str, list[tuple[int, float, float]]] = field(default_factory=dict)
    plugins: dict[str, str] = field(default_factory=dict)
    bad_records: int = 0
    truncated_bytes: int = 0
    count: int = 0

    @property
    def problem(self) -> str:
        """What had to be skipped, in a few words."""
        parts = [f"{self.bad_records} damaged records left out"] if self.bad_records else []
        if self.truncated_bytes:
            parts.append(f"the last {self.truncated_bytes} bytes are an incomplete record")
        if self.count >= MAX_POINTS:
            parts.append(f"only the first {MAX_POINTS:,} points were read")
        return "; ".join(parts)


def is_event_file(path: Path) -> bool:
    """Whether the file begins with a record whose length carries its right checksum."""
    with path.open("rb") as stream:
        head = stream.read(12)
    return len(head) == 12 and masked(head[:8]) == int.from_bytes(head[8:], "little")


def read_events(path: Path, log: EventLog) -> None:
    """Adds the scalars of one file to `log`. Damage is counted, never raised."""
    with path.open("rb") as stream:
        content = stream.read(MAX_FILE_BYTES)
    view = memoryview(content)
    for start, end in _records(content, view, log):
        if log.count >= MAX_POINTS:
            return
        try:
            found = _event(view, start, end, log.plugins)
        except (Malformed, struct.error):
            log.bad_records += 1
            continue
        if not found:
            continue
        if masked(view[start:end]) != int.from_bytes(view[end : end + 4], "little"):
            log.bad_records += 1
            continue
        for tag, step, wall_time, value in found:
            if tag in log.points or len(log.points) < MAX_TAGS:
                log.points.setdefault(tag, []).append((step, wall_time, value))
                log.count += 1


def _records(content: bytes, view: memoryview, log: EventLog) -> Iterator[tuple[int, int]]:
    """Yields (start, end) of each record's content."""
    position, size = 0, len(view)
    while position < size:
        if position + 12 > size:
            log.truncated_bytes += size - position
            return
        if masked(view[position : position + 8]) != int.from_bytes(view[position + 8 : position + 12], "little"):
            log.bad_records += 1
            following = _resume(content, view, position + 1)
            if following is None:
                return
            position = following
            continue
        length = int.from_bytes(view[position : position + 8], "little")
        start = position + 12
        if start + length + 4 > size:
            log.truncated_bytes += size - position
            return
        yield start, start + length
        position = start + length + 4


def _resume(content: bytes, view: memoryview, position: int) -> int | None:
    """The next place where a length below 4 GiB carries its right checksum; None when there is none."""
    at = content.find(b"\0\0\0\0", position + 4)
    while at >= 0 and at + 8 <= len(view):
        begin = at - 4
        if begin >= position and masked(view[begin : begin + 8]) == int.from_bytes(
            view[begin + 8 : begin + 12], "little"
        ):
            return begin
        at = content.find(b"\0\0\0\0", at + 1)
    return None


def _event(view: memoryview, start: int, end: int, plugins: dict[str, str]) -> list[tuple[str, int, float, float]]:
    step, wall_time, found = 0, 0.0, []
    summaries: list[Field] = []
    for item in fields(view, start, end):
        if item.number == 1 and item.kind == FIXED64:
            (wall_time,) = struct.unpack_from("<d", view, item.start)
        elif item.number == 2 and item.kind == VARINT:
            step = item.value - (1 << 64) if item.value >= 1 << 63 else item.value
        elif item.number == 5 and item.kind == BYTES:
            summaries.append(item)
    for summary in summaries:
        for value in fields(view, summary.start, summary.end):
            if value.number == 1 and value.kind == BYTES and (scalar := _value(view, value, plugins)):
                found.append((scalar[0], step, wall_time, scalar[1]))
    return found


def _value(view: memoryview, value: Field, plugins: dict[str, str]) -> tuple[str, float] | None:
    tag, number, tensor = "", None, None
    for item in fields(view, value.start, value.end):
        if item.number == 1 and item.kind == BYTES:
            tag = bytes(view[item.start : min(item.end, item.start + 500)]).decode("utf-8", "replace")
        elif item.number == 2 and item.kind == FIXED32:
            (number,) = struct.unpack_from("<f", view, item.start)
        elif item.number == 8 and item.kind == BYTES:
            tensor = item
        elif item.number == 9 and item.kind == BYTES and len(plugins) < MAX_TAGS:
            plugins.setdefault(tag, _plugin(view, item))
    if number is None and tensor is not None and plugins.get(tag, "scalars") in ("scalars", ""):
        number = _scalar(view, tensor)
    return None if number is None or not tag else (tag, float(number))


def _plugin(view: memoryview, metadata: Field) -> str:
    for item in fields(view, metadata.start, metadata.end):
        if item.number == 1 and item.kind == BYTES:
            for inner in fields(view, item.start, item.end):
                if inner.number == 1 and inner.kind == BYTES:
                    return bytes(view[inner.start : inner.end][:100]).decode("utf-8", "replace")
    return ""


def _scalar(view: memoryview, tensor: Field) -> float | None:
    """The value of a tensor with one element; None for any other."""
    dtype, found, elements = 0, None, 1
    for item in fields(view, tensor.start, tensor.end):
        if item.number == 1 and item.kind == VARINT:
            dtype = item.value
        elif item.number == 2 and item.kind == BYTES:
            elements = _elements(view, item)
        elif (item.number == 4 and item.kind == BYTES) or item.number in _REPEATED:
            found = item
    if dtype not in _WIDTH or elements != 1:
        return None
    if found is None:
        return 0.0
    if found.number == 4:
        return _unpack(bytes(view[found.start : found.end]), dtype)
    if found.kind == VARINT or (found.kind == BYTES and found.number in (7, 10, 13)):
        raw = found.value if found.kind == VARINT else varint(view, found.start, found.end)[0]
        if dtype in (_HALF, _BFLOAT16):
            return _unpack((raw & 0xFFFF).to_bytes(2, "little"), dtype)
        return float(raw - (1 << 64) if raw >= 1 << 63 else raw)
    return _unpack(bytes(view[found.start : found.end]), _REPEATED[found.number])


def _elements(view: memoryview, shape: Field) -> int:
    total = 1
    for dimension in fields(view, shape.start, shape.end):
        if dimension.number == 2 and dimension.kind == BYTES:
            sizes = [one.value for one in fields(view, dimension.start, dimension.end) if one.number == 1]
            total *= sizes[0] if sizes else 0
    return total


def _unpack(content: bytes, dtype: int) -> float | None:
    if len(content) != _WIDTH[dtype]:
        return None
    if dtype == _BFLOAT16:
        return float(struct.unpack("<f", b"\0\0" + content)[0])
    return float(struct.unpack(_LAYOUT[dtype], content)[0])
