"""Event files written byte by byte, so that tests can say what is in them and damage it."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from stethoscope.models.containers.record_framing import masked
from stethoscope.models.containers.wire import encode_bytes, encode_varint


def record(content: bytes) -> bytes:
    """Framing and checksums around a record's content."""
    size = struct.pack("<Q", len(content))
    return size + struct.pack("<I", masked(size)) + content + struct.pack("<I", masked(content))


def event(step: int, *values: bytes, wall_time: float | None = None) -> bytes:
    """A record with a summary."""
    summary = b"".join(encode_bytes(1, value) for value in values)
    whole = step if step >= 0 else step + (1 << 64)
    time = 1e9 + step if wall_time is None else wall_time
    return record(b"\x09" + struct.pack("<d", time) + b"\x10" + encode_varint(whole) + encode_bytes(5, summary))


def simple(tag: str, value: float) -> bytes:
    """A scalar as TensorFlow 1 and PyTorch write it."""
    return encode_bytes(1, tag.encode()) + b"\x15" + struct.pack("<f", value)


def tensor(tag: str, dtype: int, payload: bytes, plugin: str | None = "scalars", shape: bytes = b"") -> bytes:
    """A value as TensorFlow 2 writes it."""
    metadata = b"" if plugin is None else encode_bytes(9, encode_bytes(1, encode_bytes(1, plugin.encode())))
    body = b"\x08" + encode_varint(dtype) + encode_bytes(2, shape) + payload
    return encode_bytes(1, tag.encode()) + metadata + encode_bytes(8, body)


def graph_def(*nodes: tuple[str, str, str]) -> bytes:
    """A GraphDef of nodes, each with its name, its operation and one input or none."""
    parts = []
    for name, operation, before in nodes:
        node = encode_bytes(1, name.encode()) + encode_bytes(2, operation.encode())
        parts.append(encode_bytes(1, node + (encode_bytes(3, before.encode()) if before else b"")))
    return b"".join(parts)


def graph_event(graph: bytes, *, meta: bool = False) -> bytes:
    """A record with a graph, alone or in a MetaGraphDef."""
    content = encode_bytes(9, encode_bytes(2, graph)) if meta else encode_bytes(4, graph)
    return record(b"\x09" + struct.pack("<d", 1e9) + content)


def first_record() -> bytes:
    """What every event file begins with."""
    return record(b"\x09" + struct.pack("<d", 0.0) + encode_bytes(3, b"brain.Event:2"))


def write_events(folder: Path, events: Iterable[bytes], name: str = "events.out.tfevents.1.host") -> Path:
    """Writes an event file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(first_record() + b"".join(events))
    return path
