"""A log of many runs for benchmarks: event files as PyTorch writes them, made by numpy in a moment."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from stethoscope.models.containers.record_framing import checksums, mask, masked
from stethoscope.models.containers.wire import encode_bytes

FIRST_STEP, LAST_STEP = 128, 16_383
"""Steps that take two bytes: all records of a tag are equally long."""


def write(folder: Path, runs: int, tags: list[str], points: int) -> None:
    """`runs` event files in ten groups, each with hparams and falling, noisy curves; every hundredth run has a NaN and a spike."""
    for run in range(runs):
        path = folder / f"group-{run % 10}" / f"run-{run:04d}" / f"events.out.tfevents.1767225600.bench.{run}"
        path.parent.mkdir(parents=True)
        generator = np.random.default_rng(run)
        place = np.linspace(0, 1, points)
        with path.open("wb") as stream:
            stream.write(session_start(parameters_of(run)))
            for number, tag in enumerate(tags):
                rate, floor = generator.uniform(2, 8), generator.uniform(0.05, 0.5)
                values = (1 + number % 3) * np.exp(-rate * place) + floor + generator.normal(0, 0.02, points)
                if run % 100 == 0:
                    values[points // 2], values[points // 3] = np.nan, 5
                stream.write(records(tag, values.astype(np.float32), 1.7e9 + run))


def parameters_of(run: int) -> dict[str, float | str]:
    """What a run was given, by its number."""
    generator = np.random.default_rng([run, 1])
    return {
        "lr": float(10 ** generator.uniform(-5, -1)),
        "batch_size": float(generator.choice([16, 32, 64, 128])),
        "units": float(generator.choice([64, 128, 256])),
        "dropout": float(generator.uniform(0, 0.5)),
        "optimizer": str(generator.choice(["adam", "rmsprop", "sgd"])),
        "schedule": str(generator.choice(["constant", "cosine"])),
        "seed": float(run),
    }


def session_start(parameters: Mapping[str, float | str]) -> bytes:
    """One record as TensorBoard's hparams plugin writes it at the start of a run."""
    entries = b""
    for name, value in parameters.items():
        text = isinstance(value, str)
        held = encode_bytes(3, str(value).encode()) if text else b"\x11" + struct.pack("<d", value)
        entries += encode_bytes(1, encode_bytes(1, name.encode()) + encode_bytes(2, held))
    plugin = encode_bytes(1, encode_bytes(1, b"hparams") + encode_bytes(2, encode_bytes(3, entries)))
    value = encode_bytes(1, b"_hparams_/session_start_info") + encode_bytes(9, plugin)
    body = b"\x09" + struct.pack("<d", 1.7e9) + encode_bytes(5, encode_bytes(1, value))
    length = struct.pack("<Q", len(body))
    return length + struct.pack("<I", masked(length)) + body + struct.pack("<I", masked(body))


def records(tag: str, values: np.ndarray, start_s: float) -> bytes:
    """One record per value, framed and checksummed. `values` is float32 of shape (points,)."""
    points = len(values)
    step = np.linspace(FIRST_STEP, min(LAST_STEP, FIRST_STEP + 10 * points), points).astype(np.int64)
    body = encode_bytes(5, encode_bytes(1, encode_bytes(1, tag.encode()) + b"\x15" + b"\0\0\0\0"))
    head = b"\x09" + b"\0" * 8 + b"\x10" + b"\0\0"
    content = np.tile(np.frombuffer(head + body, np.uint8), (points, 1))
    content[:, 1:9] = (start_s + step * 0.37).astype("<f8").view(np.uint8).reshape(points, 8)
    content[:, 10] = step & 0x7F | 0x80
    content[:, 11] = step >> 7
    content[:, -4:] = np.ascontiguousarray(values, "<f4").view(np.uint8).reshape(points, 4)
    size = content.shape[1]
    length = struct.pack("<Q", size)
    framed = np.empty((points, 12 + size + 4), np.uint8)
    framed[:, :12] = np.frombuffer(length + struct.pack("<I", masked(length)), np.uint8)
    framed[:, 12:-4] = content
    sums = mask(checksums(content.tobytes(), np.arange(points) * size, np.full(points, size))).astype("<u4")
    framed[:, -4:] = sums.view(np.uint8).reshape(points, 4)
    return framed.tobytes()
