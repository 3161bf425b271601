"""Reads event files by TensorFlow's published protobufs, without the project's own reader."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from stethoscope.models.containers.record_framing import masked
from stethoscope.models.containers.wire import fields


def contents(path: Path) -> list[bytes]:
    """Each record's content; both checksums are asserted."""
    data, position, found = path.read_bytes(), 0, []
    while position < len(data):
        (length,) = struct.unpack_from("<Q", data, position)
        assert struct.unpack_from("<I", data, position + 8)[0] == masked(data[position : position + 8])
        content = data[position + 12 : position + 12 + length]
        assert struct.unpack_from("<I", data, position + 12 + length)[0] == masked(content)
        found.append(content)
        position += 16 + length
    assert position == len(data)
    return found


def events(path: Path) -> list[tuple[int, float, str, np.ndarray]]:
    """(step, wall time, tag, value) in the order written; the first record must be the version."""
    first, *records = contents(path)
    assert b"brain.Event:2" in first
    return [
        (step, wall_time, tag, value)
        for record in records
        for step, wall_time, summary in [_event(record)]
        for tag, value in summary
    ]


def scalars(folder: Path) -> dict[str, dict[int, float]]:
    """tag → step → value of every event file of a folder."""
    found: dict[str, dict[int, float]] = {}
    for path in sorted(folder.glob("*tfevents*")):
        for step, _, tag, value in events(path):
            if value.ndim == 0:
                found.setdefault(tag, {})[step] = float(value)
    return found


def _event(record: bytes) -> tuple[int, float, list[tuple[str, np.ndarray]]]:
    step, wall_time, values = 0, 0.0, []
    view = memoryview(record)
    for item in fields(view, 0, len(view)):
        if item.number == 1:
            (wall_time,) = struct.unpack_from("<d", record, item.start)
        elif item.number == 2:
            step = item.value - (1 << 64) if item.value >= 1 << 63 else item.value
        elif item.number == 5:
            values = [_value(record, one.start, one.end) for one in fields(view, item.start, item.end)]
    return step, wall_time, values


def _value(record: bytes, start: int, end: int) -> tuple[str, np.ndarray]:
    view, tag, value = memoryview(record), "", None
    for item in fields(view, start, end):
        if item.number == 1:
            tag = record[item.start : item.end].decode()
        elif item.number == 8:
            parts = {part.number: part for part in fields(view, item.start, item.end)}
            shape = [
                next(fields(view, size.start, size.end)).value for size in fields(view, parts[2].start, parts[2].end)
            ]
            dtype = {1: "<f4", 2: "<f8"}[parts[1].value]
            value = np.frombuffer(record[parts[4].start : parts[4].end], dtype).reshape(shape)
    assert value is not None
    return tag, value
