"""Event files of benchmarks, written without TensorFlow so that they are made in seconds."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import BinaryIO

import numpy as np

from stethoscope.models.containers.record_framing import checksums, mask, masked
from stethoscope.models.containers.wire import encode_bytes, encode_varint


@cache
def _head(size: int) -> bytes:
    length = struct.pack("<Q", size)
    return length + struct.pack("<I", masked(length))


def write(path: Path, contents: Iterable[bytes]) -> None:
    """Writes the records of an event file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    version = b"\x09" + struct.pack("<d", 1.7e9) + encode_bytes(3, b"brain.Event:2")
    with path.open("wb") as stream:
        _append(stream, [version])
        batch: list[bytes] = []
        for content in contents:
            batch.append(content)
            if len(batch) == 20_000:
                _append(stream, batch)
                batch = []
        _append(stream, batch)


def _append(stream: BinaryIO, batch: list[bytes]) -> None:
    whole = b"".join(batch)
    sizes = np.array([len(one) for one in batch], np.int64)
    stored = mask(checksums(whole, np.cumsum(sizes) - sizes, sizes)).astype("<u4")
    stream.write(b"".join(_head(len(one)) + one + crc.tobytes() for one, crc in zip(batch, stored, strict=True)))


def _event(step: int, value: bytes) -> bytes:
    time = struct.pack("<d", 1.7e9 + step * 0.37)
    return b"\x09" + time + b"\x10" + encode_varint(step) + encode_bytes(5, encode_bytes(1, value))


def _metadata(plugin: bytes) -> bytes:
    return encode_bytes(9, encode_bytes(1, encode_bytes(1, plugin)))


def scalars(tags: list[str], steps: int, *, tensors: bool) -> Iterator[bytes]:
    """One record per tag and step, as TensorFlow 2 (`tensors`) or PyTorch writes them."""
    names = [encode_bytes(1, tag.encode()) for tag in tags]
    values = np.random.default_rng(0).normal(size=(steps, len(tags))).astype(np.float32)
    metadata = _metadata(b"scalars")
    for step in range(steps):
        for name, value in zip(names, values[step], strict=True):
            if tensors:
                tensor = encode_bytes(8, b"\x08\x01\x12\x00" + encode_bytes(4, value.tobytes()))
                yield _event(step, name + tensor + metadata)
            else:
                yield _event(step, name + b"\x15" + value.tobytes())


def keras_run(layers: int, epochs: int, image_bytes: int) -> Iterator[bytes]:
    """Losses, a histogram of 30 buckets and an image per layer and epoch, as Keras' callback writes them."""
    random = np.random.default_rng(0)
    shape = encode_bytes(2, encode_bytes(2, b"\x08\x1e") + encode_bytes(2, b"\x08\x03"))
    for epoch in range(epochs):
        for tag in ("epoch_loss", "epoch_accuracy"):
            tensor = b"\x08\x01\x12\x00" + encode_bytes(4, struct.pack("<f", 1 / (epoch + 1)))
            yield _event(epoch, encode_bytes(1, tag.encode()) + encode_bytes(8, tensor) + _metadata(b"scalars"))
        for layer in range(layers):
            buckets = b"\x08\x02" + shape + encode_bytes(4, random.normal(size=90).tobytes())
            name = encode_bytes(1, f"layer_{layer}/kernel_0/histogram".encode())
            yield _event(epoch, name + encode_bytes(8, buckets) + _metadata(b"histograms"))
            picture = random.bytes(image_bytes + int(random.integers(100)))
            words = b"\x08\x07" + encode_bytes(2, encode_bytes(2, b"\x08\x03")) + encode_bytes(8, b"28")
            name = encode_bytes(1, f"layer_{layer}/kernel_0/image".encode())
            tensor = encode_bytes(8, words + encode_bytes(8, b"28") + encode_bytes(8, picture))
            yield _event(epoch, name + tensor + _metadata(b"images"))
